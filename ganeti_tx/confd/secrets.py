"""A configuration without what must not cross a network in clear: replies are signed, not encrypted."""

from collections.abc import Mapping

from msgspec.structs import replace

from ganeti_tx.model import disk as disks
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.instance import Instance

#: Stands for each secret.
BLANK = "<redacted>"


def without_secrets(config: ConfigData) -> ConfigData:
    """The same with the values of private OS parameters and the secrets of mirrors blanked; their places are kept."""
    instances = {uuid: _instance(each) for uuid, each in config.instances.items()}
    bare = {uuid: disks.without_secrets(each, BLANK) for uuid, each in config.disks.items()}
    return replace(config, cluster=_cluster(config.cluster), instances=instances, disks=bare)


def _cluster(cluster: Cluster) -> Cluster:
    private = {name: _blanked(params) for name, params in cluster.osparams_private_cluster.items()}
    return replace(cluster, osparams_private_cluster=private) if private else cluster


def _instance(instance: Instance) -> Instance:
    private = instance.osparams_private
    return replace(instance, osparams_private=_blanked(private)) if private else instance


def _blanked(params: Mapping[str, str]) -> dict[str, str]:
    return dict.fromkeys(params, BLANK)
