"""A configuration without what must not cross a network in clear: replies are signed, not encrypted."""

from collections.abc import Mapping

from msgspec.structs import replace

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import DRBD_SECRET_AT, Disk
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance import Instance

#: Stands for each secret.
BLANK = "<redacted>"


def without_secrets(config: ConfigData) -> ConfigData:
    """The same with the values of private OS parameters and the secrets of mirrors blanked; their places are kept."""
    instances = {uuid: _instance(each) for uuid, each in config.instances.items()}
    disks = {uuid: _disk(each) for uuid, each in config.disks.items()}
    return replace(config, cluster=_cluster(config.cluster), instances=instances, disks=disks)


def _cluster(cluster: Cluster) -> Cluster:
    private = {name: _blanked(params) for name, params in cluster.osparams_private_cluster.items()}
    return replace(cluster, osparams_private_cluster=private) if private else cluster


def _instance(instance: Instance) -> Instance:
    private = instance.osparams_private
    return replace(instance, osparams_private=_blanked(private)) if private else instance


def _disk(disk: Disk) -> Disk:
    if disk.children:
        disk = replace(disk, children=tuple(_disk(child) for child in disk.children))
    place = disk.logical_id or ()
    if disk.dev_type is not DiskTemplate.DRBD or len(place) <= DRBD_SECRET_AT:
        return disk
    return replace(disk, logical_id=(*place[:DRBD_SECRET_AT], BLANK))


def _blanked(params: Mapping[str, str]) -> dict[str, str]:
    return dict.fromkeys(params, BLANK)
