"""Disks as nodes must know them: made from the configuration's, with the parameters of cluster and group filled in."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.disk import fill_diskparams, with_params


def disk_specs(disks: Sequence[Disk], cluster: Cluster, group: NodeGroup) -> list[DiskSpec]:
    """All disks of an instance, in their order."""
    filled = fill_diskparams(cluster, group)
    return [disk_spec(with_params(disk, filled), index) for index, disk in enumerate(disks)]


def disk_spec(disk: Disk, index: int = -1) -> DiskSpec:
    """One disk that carries its filled parameters."""
    own: dict[str, Any] = dict(disk.params or {})
    return DiskSpec(
        uuid=disk.uuid,
        dev_type=disk.dev_type.value,
        size=disk.size,
        logical_id=None if disk.logical_id is None else list(disk.logical_id),
        index=index,
        mode=disk.mode,
        name=disk.name,
        iv_name=disk.iv_name,
        spindles=disk.spindles,
        params=own,
        children=[disk_spec(child) for child in disk.children],
    )
