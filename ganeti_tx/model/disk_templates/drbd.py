"""Mirrors: each disk is two logical volumes on each of two nodes, data and metadata, kept alike by DRBD."""

from typing import NamedTuple

from ganeti_tx.model.base import Wire
from ganeti_tx.model.disk_template import Child, Mirrored, Template
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.logical_id import Minor, NodeUuid, Port, Secret

#: MiB that a mirror needs besides its data, on each of its nodes.
META_SIZE = 128


class DrbdId(NamedTuple):
    """Where a mirror lives: two nodes, the TCP port between them, the minor on each, the shared secret."""

    node_a: NodeUuid
    node_b: NodeUuid
    port: Port
    minor_a: Minor
    minor_b: Minor
    secret: Secret


class DrbdParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """Rates in KiB/s, as DRBD takes them; barriers are letters of what to switch off."""

    c_delay_target: int = 1
    c_fill_target: int = 0
    c_max_rate: int = 61440
    c_min_rate: int = 4096
    c_plan_ahead: int = 20
    data_stripes: int = 1
    disk_barriers: str = "n"
    disk_custom: str = ""
    dynamic_resync: bool = False
    meta_barriers: bool = False
    meta_stripes: int = 1
    metavg: str = "xenvg"
    net_custom: str = ""
    protocol: str = "C"
    resync_rate: int = 61440


def resource_of(minor: int) -> str:
    """DRBD's name for a mirror on the node where it has this minor."""
    return f"resource{minor}"


TEMPLATE = Template(
    logical_id=DrbdId,
    storage=StorageType.LVM_VG,
    pool="volume_group_name",
    params=DrbdParams,
    on_node={"metavg": "default-metavg", "disk-barriers": "disabled-barriers", "meta-barriers": "disable-meta-flush"},
    children=(
        Child(template="plain", suffix="_data", pool_key="vg", params={"stripes": "data-stripes"}),
        Child(
            template="plain",
            suffix="_meta",
            size=META_SIZE,
            pool_key="metavg",
            pool_param="metavg",
            params={"stripes": "meta-stripes"},
        ),
    ),
    mirrored=Mirrored.INTERNALLY,
    snapshots=True,
    by_default=True,
    driver="drbd",
)
