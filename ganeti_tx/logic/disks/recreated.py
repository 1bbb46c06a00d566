"""Which disks are to be made anew, and what shall be different about them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.plan import disk_size, disk_spindles
from ganeti_tx.logic.disks.room import data_parts
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.opcodes.types import DiskToRecreate

#: What a request may change (reference: storage-rules.json, recreate_disks).
CHANGEABLE = ("mode", "size", "spindles")
MODES: Mapping[object, Literal["ro", "rw"]] = {"ro": "ro", "rw": "rw"}


def changed_disks(
    asked: Sequence[int | DiskToRecreate], disks: Sequence[Disk], cluster: Cluster
) -> tuple[tuple[Disk, ...], list[int]]:
    """All disks as they are to be, and the indices of those that are to be made; all, if none are asked for.

    @raise OpPrereqError: there is no such disk, one is asked for twice, or something cannot be changed.
    """
    wanted: dict[int, Mapping[str, Any]] = {}
    for each in asked:
        index, params = (each.index, each.params) if isinstance(each, DiskToRecreate) else (each, {})
        if index >= len(disks):
            raise OpPrereqError(f"Invalid disk index: {index} (instance has disks 0 to {len(disks) - 1})", ECode.INVAL)
        if index in wanted:
            raise OpPrereqError(f"disk/{index} is asked for more than once", ECode.INVAL)
        wanted[index] = params
    new = tuple(changed(index, disk, wanted.get(index, {}), cluster) for index, disk in enumerate(disks))
    return new, sorted(wanted) or list(range(len(disks)))


def changed(index: int, disk: Disk, params: Mapping[str, Any], cluster: Cluster) -> Disk:
    """One disk. @raise OpPrereqError: what it is asked to be, it cannot be."""
    what = f"disk/{index}"
    if unknown := sorted(set(params) - set(CHANGEABLE)):
        raise OpPrereqError(
            f"{what}: {unknown[0]} of a disk that is made anew cannot be changed; allowed are {', '.join(CHANGEABLE)}",
            ECode.INVAL,
        )
    mode = MODES.get(params.get("mode", disk.mode))
    if mode is None:
        raise OpPrereqError(f"{what}: mode {params['mode']!r} is not allowed; allowed are ro, rw", ECode.INVAL)
    kept = None if "size" in params else disk.spindles
    spindles = disk_spindles(what, params["spindles"]) if "spindles" in params else kept
    size = disk_size(what, params, cluster) if "size" in params else disk.size
    parts = data_parts(disk)
    children = tuple(replace(child, size=size) if child in parts else child for child in disk.children)
    return replace(disk, mode=mode, spindles=spindles, size=size, children=children)
