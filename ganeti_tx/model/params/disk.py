"""Disk parameters by template, of clusters and groups; and the shorter set that each disk carries to a node."""

from collections.abc import Mapping

from msgspec.structs import replace

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.base import Params, Wire
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.kinds import check, fill


class NoDiskParams(Wire, frozen=True, kw_only=True):
    """Templates without parameters."""


class DrbdParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """Mirrors: rates in KiB/s, as DRBD takes them; barriers are letters of what to switch off."""

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


class ExtParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """External storage."""

    access: str = "kernelspace"


class GlusterParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """Files on a Gluster volume."""

    access: str = "kernelspace"
    host: str = "127.0.0.1"
    port: int = 24007
    volume: str = "gv0"


class PlainParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """Logical volumes."""

    stripes: int = 1


class RbdParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """RADOS block devices."""

    access: str = "kernelspace"
    pool: str = "rbd"


DiskParams = NoDiskParams | DrbdParams | ExtParams | GlusterParams | PlainParams | RbdParams

PARAMS: Mapping[DiskTemplate, type[DiskParams]] = {
    DiskTemplate.BLOCKDEV: NoDiskParams,
    DiskTemplate.DISKLESS: NoDiskParams,
    DiskTemplate.DRBD: DrbdParams,
    DiskTemplate.EXT: ExtParams,
    DiskTemplate.FILE: NoDiskParams,
    DiskTemplate.GLUSTER: GlusterParams,
    DiskTemplate.PLAIN: PlainParams,
    DiskTemplate.RBD: RbdParams,
    DiskTemplate.SHAREDFILE: NoDiskParams,
}
#: How a mirror's parameters are called where they reach the node; the stripes go to its two volumes.
ON_DRBD_DISK = {"metavg": "default-metavg", "disk-barriers": "disabled-barriers", "meta-barriers": "disable-meta-flush"}
STRIPES = ("data-stripes", "meta-stripes")


def fill_diskparams(cluster: Cluster, group: NodeGroup | None = None) -> dict[DiskTemplate, Params]:
    """All parameters of every template: built-in, then the cluster's, then the group's."""
    own = group.diskparams if group is not None else {}
    return {
        template: fill(kind, cluster.diskparams.get(template, {}), own.get(template, {}))
        for template, kind in PARAMS.items()
    }


def check_diskparams(given: Mapping[str, Params]) -> dict[DiskTemplate, dict[str, object]]:
    """Given parameters in their types, by template.

    @raise ParameterError: a template or name is unknown. @raise TypeEnforcementError: a value is of another type.
    """
    for template in given:
        if template not in tuple(DiskTemplate):
            raise ParameterError(f"diskparams.{template}: unknown template, allowed are {', '.join(DiskTemplate)}")
    return {
        DiskTemplate(template): check(PARAMS[DiskTemplate(template)], params, f"diskparams.{template}")
        for template, params in given.items()
    }


def with_params(disk: Disk, filled: Mapping[DiskTemplate, Params]) -> Disk:
    """The disk, and those it is made of, with the parameters a node needs; what a disk sets itself counts most."""
    params = filled[disk.dev_type]
    if disk.dev_type is not DiskTemplate.DRBD:
        return replace(disk, params={**params, **(disk.params or {})})
    children = tuple(
        replace(with_params(child, filled), params={"stripes": params[stripes]})
        for child, stripes in zip(disk.children, STRIPES, strict=False)
    )
    own = {ON_DRBD_DISK.get(name, name): value for name, value in params.items() if name not in STRIPES}
    return replace(disk, params={**own, **(disk.params or {})}, children=children)
