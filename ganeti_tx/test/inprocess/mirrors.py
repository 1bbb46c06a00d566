"""Clusters in which mirrored disks can be had, from storages in memory."""

from msgspec.structs import replace

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk_templates import AVAILABLE
from ganeti_tx.model.enums import DiskTemplate

#: The templates that nodes with a wire for mirrors have drivers for.
TEMPLATES = (*AVAILABLE, DiskTemplate.DRBD)


def with_mirrors(config: ConfigData) -> ConfigData:
    """A cluster in which mirrors are enabled."""
    templates = (*config.cluster.enabled_disk_templates, DiskTemplate.DRBD)
    cluster = replace(config.cluster, enabled_disk_templates=templates, volume_group_name="xenvg")
    return replace(config, cluster=cluster)
