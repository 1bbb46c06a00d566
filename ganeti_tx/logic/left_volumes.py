"""Which command removes logical volumes that an undo could not remove: no disk has them, so no other command knows them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, StorageType
from ganeti_tx.model.undo import NodeUndo, Undo
from ganeti_tx.rpc.calls.disk import BlockdevRemove


def told(undos: Iterable[Undo]) -> Iterator[str]:
    """A line for each node on which volumes may be left, of undos that failed."""
    left: dict[str, list[str]] = {}
    for undo in undos:
        if isinstance(undo, NodeUndo) and undo.call == BlockdevRemove.name:
            left.setdefault(undo.node, []).extend(volumes(undo.arguments["disk"]))
    for node, names in left.items():
        if names:
            command = f'gnt-cluster command -n {node} "lvremove -f {" ".join(names)}"'
            yield f"node {node} may have volumes of no disk; '{command}' removes them when it can be reached"


def volumes(disk: Mapping[str, Any]) -> Iterator[str]:
    """Those that a disk consists of, as LVM names them."""
    if disk.get("children"):
        for child in disk["children"]:
            yield from volumes(child)
    elif TEMPLATES[DiskTemplate(disk["dev_type"])].storage is StorageType.LVM_VG:
        yield "/".join(map(str, disk["logical_id"]))
