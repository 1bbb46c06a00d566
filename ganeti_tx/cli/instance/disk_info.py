"""One disk of an instance, and the disks below it, as gnt-instance info shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.output import format_size
from ganeti_tx.cli.tree import Labelled

Disk = Mapping[str, Any]
Status = Sequence[Any]
#: The parts of the logical id of a disk that is on two nodes: both, the port between them, the minor on each.
_ON_TWO_NODES = 5
#: As `model/status.py` has them, which this does not import for its weight (reference: storage-rules.json).
_LOCAL_STATES = {1: ", status ok", 2: ", status SYNC", 3: ", status unknown", 4: " *MISSING DISK*"}
_OK = 1


def disk_lines(label: str, disk: Disk) -> Labelled:
    """The disk with its logical id, its state on the nodes that were asked, and its children."""
    size = disk.get("size")
    shown = format_size(size, "h") if isinstance(size, int) else "N/A"
    children = disk.get("children") or ()
    mirrored = len(disk.get("logical_id") or ()) >= _ON_TWO_NODES
    return [
        (label, f"{disk['dev_type']}, size {shown}"),
        *([("access mode", disk["mode"])] if disk.get("mode") else []),
        *_logical_id(disk),
        *([("on primary", _on_node(disk["pstatus"], mirrored))] if disk.get("pstatus") else []),
        *([("on secondary", _on_node(disk["sstatus"], mirrored))] if disk.get("sstatus") else []),
        ("name", disk.get("name")),
        ("UUID", disk.get("uuid")),
        *(
            [("child devices", [disk_lines(f"child {i}", child) for i, child in enumerate(children)])]
            if children
            else []
        ),
    ]


def _logical_id(disk: Disk) -> Labelled:
    """What the disk is made of; the secret that DRBD's two sides share stays out."""
    logical_id = disk.get("logical_id")
    if not logical_id:
        return []
    if len(logical_id) < _ON_TWO_NODES:
        return [("logical_id", str(list(logical_id)))]
    node_a, node_b, port, minor_a, minor_b, *_secret = logical_id
    return [("nodeA", f"{node_a}, minor={minor_a}"), ("nodeB", f"{node_b}, minor={minor_b}"), ("port", port)]


def _on_node(status: Status, mirrored: bool) -> str:
    """[path, major, minor, sync percent, estimated seconds, degraded, local state]; only mirrors tell that all is well."""
    path, major, minor, percent, seconds, degraded, local = [*status, *[None] * 7][:7]
    text = f"{path or 'unknown path'} ({_number(major)}:{_number(minor)})"
    if percent is not None:
        left = "unknown" if seconds is None else f"{seconds}s"
        return f"{text} *RECOVERING* {percent:5.2f}%, ETA {left}"
    if not mirrored and not degraded and local in (None, _OK):
        return text
    text += {True: " *DEGRADED*", False: " in sync"}.get(degraded, "")
    return text if local is None else text + _LOCAL_STATES.get(local, f", status {local}")


def _number(value: object) -> str:
    return "N/A" if value is None else str(value)
