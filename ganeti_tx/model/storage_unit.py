"""The storage units of nodes: volume groups, physical volumes, directories (design-2.1; reference: storage-rules.json)."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.pools import pool_of


class UnitState(msgspec.Struct, frozen=True, kw_only=True):
    """One unit as its node sees it, MiB. `allocatable`: new disks may lie in it. `fault`: what it lacks, if anything."""

    name: str
    size: int
    used: int
    free: int
    allocatable: bool = True
    fault: str = ""


class VolumePiece(msgspec.Struct, frozen=True, kw_only=True):
    """A logical volume on one of the physical ones that it lies upon; `size` is that of the whole volume in MiB."""

    group: str
    name: str
    size: int
    physical: str


#: MiB that a volume group must have which a cluster is to use (reference: storage-rules.json, lvm).
MIN_GROUP_SIZE = 20480
#: The check by which a node tells what is wrong with a volume group.
VOLUME_GROUP = "volume-group"
#: The mending that units of a type know.
FIX_CONSISTENCY = "fix-consistency"
MENDED: Mapping[StorageType, str] = {StorageType.LVM_VG: FIX_CONSISTENCY}
#: What can be changed of units of a type.
CHANGEABLE: Mapping[StorageType, frozenset[str]] = {StorageType.LVM_PV: frozenset({"allocatable"})}


def holder(kind: StorageType) -> StorageType:
    """The type that templates name; physical volumes are those of volume groups."""
    return StorageType.LVM_VG if kind is StorageType.LVM_PV else kind


def enabled_in(kind: StorageType, cluster: Cluster) -> list[Template]:
    """The enabled templates whose disks lie in such units."""
    templates = [TEMPLATES[word] for word in cluster.enabled_disk_templates]
    return [template for template in templates if template.storage is holder(kind)]


def places(kind: StorageType, cluster: Cluster) -> list[str]:
    """The directories that the cluster has for it; units of LVM are found by nodes themselves."""
    if holder(kind) is StorageType.LVM_VG:
        return []
    return sorted({place for each in enabled_in(kind, cluster) if (place := pool_of(each, cluster))})


#: What can be told of a unit on a node.
UNIT_FIELDS: tuple[str, ...] = ("node", "type", "name", "size", "used", "free", "allocatable", "fault")


def unit_row(node: str, kind: StorageType, unit: UnitState) -> dict[str, Any]:
    """A unit by field."""
    return {"node": node, "type": kind.value, **msgspec.structs.asdict(unit)}
