"""Which command removes volumes that undos could not remove: no disk has them, so no other command knows them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.disk_templates.drbd import resource_of
from ganeti_tx.model.enums import DiskTemplate, StorageType
from ganeti_tx.model.undo import NodeUndo, Undo
from ganeti_tx.rpc.calls.disk import BlockdevRemove, BlockdevShutdown

Arguments = Mapping[str, Any]


def told(undos: Iterable[Undo]) -> Iterator[str]:
    """A line for each node on which volumes may be left, of undos that failed."""
    for node, command in commands(undos):
        yield (
            f"node {node} may have volumes of no disk; '{command}' removes them when it can be reached and"
            " 'gnt-cluster verify' names them as unknown"  # later a disk may have them again, under the same names
        )


def commands(undos: Iterable[Undo]) -> Iterator[tuple[str, str]]:
    """For each node what does these undos there by hand."""
    calls = [each for each in undos if isinstance(each, NodeUndo)]
    for node in dict.fromkeys(each.node for each in calls if each.call == BlockdevRemove.name):
        left = [each.arguments["disk"] for each in calls if (each.node, each.call) == (node, BlockdevRemove.name)]
        names = [name for disk in left for name in volumes(disk)]
        downs = {
            each.arguments["disk"]["uuid"] for each in calls if (each.node, each.call) == (node, BlockdevShutdown.name)
        }
        mirrors = [taken_down(disk) for disk in left if disk["uuid"] in downs and disk.get("ends")]
        if names:
            words = "; ".join([*mirrors, f"lvremove -f {' '.join(names)}"])
            yield node, f'gnt-cluster command -n {node} "{words}"'


def taken_down(disk: Arguments) -> str:
    """Shell that ends a mirror which may be ready; its minor may be another disk's by then, so only one with its volumes."""
    resource = resource_of(disk["ends"]["local_minor"])
    return f"drbdsetup show {resource} | grep -qF {next(volumes(disk))} && drbdsetup down {resource}"


def volumes(disk: Arguments) -> Iterator[str]:
    """Those that a disk consists of, as LVM names them."""
    if disk.get("children"):
        for child in disk["children"]:
            yield from volumes(child)
    elif TEMPLATES[DiskTemplate(disk["dev_type"])].storage is StorageType.LVM_VG:
        yield "/".join(map(str, disk["logical_id"]))
