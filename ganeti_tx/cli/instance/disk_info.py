"""One disk of an instance, and the disks below it, as gnt-instance info shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.output import format_size
from ganeti_tx.cli.tree import Labelled, Part

Disk = Mapping[str, Any]
Status = Sequence[Any]
#: As `model/status.py` has them, which this does not import for its weight (reference: storage-rules.json).
_LOCAL_STATES = {1: ", status ok", 2: ", status SYNC", 3: ", status unknown", 4: " *MISSING DISK*"}
_OK, _UNKNOWN = 1, 3


#: What programs get of a disk as it is.
_AS_IS = ("dev_type", "size", "mode", "volume", "drbd_info")
_STATUS_KEYS = ("path", "major", "minor", "sync_percent", "estimated_seconds", "degraded", "local_state")
_LOCAL_WORDS = {1: "ok", 2: "sync", 3: "unknown", 4: "missing"}


def disk_lines(label: str, disk: Disk, *, is_child: bool = False) -> Labelled:
    """The disk with its logical id, its state on the nodes that were asked, and its children, without their mode."""
    return Part(_lines(label, disk, is_child=is_child), value_of_disk(disk))


def value_of_disk(disk: Disk) -> dict[str, Any]:
    """The same for programs; the id of a mirror has its secret, and all else in it is told by `drbd_info`."""
    return {
        **{key: disk.get(key) for key in _AS_IS},
        "logical_id": None if disk.get("drbd_info") else disk.get("logical_id"),
        "on_primary": _status_value(disk.get("pstatus"), disk.get("papart")),
        "on_secondary": _status_value(disk.get("sstatus"), disk.get("sapart")),
        "name": disk.get("name"),
        "uuid": disk.get("uuid"),
        "children": [value_of_disk(child) for child in disk.get("children") or ()],
    }


def _status_value(status: Status | None, apart: str | None) -> dict[str, Any] | None:
    """None of a node that was not asked, or has nothing of it."""
    if not status:
        return None
    value = dict(zip(_STATUS_KEYS, [*status, *[None] * len(_STATUS_KEYS)], strict=False))
    local = value["local_state"]
    return {**value, "local_state": _LOCAL_WORDS.get(local, local), "apart": apart or None}


def _lines(label: str, disk: Disk, *, is_child: bool) -> list[tuple[str, Any]]:
    size = disk.get("size")
    shown = format_size(size, "h") if isinstance(size, int) else "N/A"
    children = disk.get("children") or ()
    return [
        (label, f"{disk['dev_type']}, size {shown}"),
        *([("access mode", disk["mode"])] if disk.get("mode") and not is_child else []),
        *([("format", disk["format"])] if disk.get("format") else []),
        *_place(disk),
        *_states(disk),
        ("name", disk.get("name")),
        ("UUID", disk.get("uuid")),
        *(
            [("child devices", [disk_lines(f"child {i}", child, is_child=True) for i, child in enumerate(children)])]
            if children
            else []
        ),
    ]


def _states(disk: Disk) -> Labelled:
    """On each node that was asked; why a mirror is degraded comes last, so that programs still find what they look for."""
    mirrored, told = bool(disk.get("drbd_info")), []
    for label, status, apart in (("on primary", "pstatus", "papart"), ("on secondary", "sstatus", "sapart")):
        if disk.get(status):
            why = f" ({disk[apart]})" if disk.get(apart) else ""
            told.append((label, _on_node(disk[status], mirrored) + why))
    return told


def _place(disk: Disk) -> Labelled:
    """What the disk is made of; a volume by its group and name."""
    if mirror := disk.get("drbd_info"):
        return [
            ("nodeA", f"{mirror['primary_node']}, minor={mirror['primary_minor']}"),
            ("nodeB", f"{mirror['secondary_node']}, minor={mirror['secondary_minor']}"),
            ("port", mirror["port"]),
        ]
    logical_id = disk.get("logical_id")
    if not logical_id:
        return []
    return [("logical_id", disk.get("volume") or str(list(logical_id)))]


def _on_node(status: Status, mirrored: bool) -> str:
    """[path, major, minor, sync percent, estimated seconds, degraded, local state]; only mirrors tell that all is well.

    One that is not set up, as that of an instance that is down, is no fault.
    """
    path, major, minor, percent, seconds, degraded, local = [*status, *[None] * 7][:7]
    text = f"{path or 'unknown path'} ({_number(major)}:{_number(minor)})"
    if percent is not None:
        left = "unknown" if seconds is None else f"{seconds}s"
        return f"{text} *RECOVERING* {percent:5.2f}%, ETA {left}"
    if not mirrored and not degraded and local in (None, _OK):
        return text
    if mirrored and minor is None and local == _UNKNOWN:  # its volumes are there, and that is all
        return f"{text} not set up"
    text += {True: " *DEGRADED*", False: " in sync"}.get(degraded, "")
    return text if local is None else text + _LOCAL_STATES.get(local, f", status {local}")


def _number(value: object) -> str:
    return "N/A" if value is None else str(value)
