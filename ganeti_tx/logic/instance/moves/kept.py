"""A mirrored instance that goes to a third node: which of its two nodes keeps its copy, and whether the new one can have it."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.room import all_parts, check_disk_room
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import check_online, check_takes_instances
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node


def kept_node(view: InstanceView, target: Node | None, kept: Node) -> Node | None:
    """The node that is to be the secondary one; None where the instance stays on its pair of nodes.

    @raise OpPrereqError: it does not go to another node, or that which is named has no copy.
    """
    pair = [view.primary, *view.secondaries[:1]]
    names = " or ".join(node.name for node in pair)
    if target is None:
        raise OpPrereqError(
            f"secondary node {kept.name} given, but no target node (-n); without one the instance goes to its secondary"
            " node",
            ECode.INVAL,
        )
    if target.uuid == view.primary.uuid:
        raise OpPrereqError(f"Cannot migrate instance {view.instance.name} to its primary ({target.name})", ECode.STATE)
    if target.uuid == kept.uuid:
        raise OpPrereqError(f"node {kept.name} cannot be the primary and the secondary node", ECode.INVAL)
    if kept.uuid not in [node.uuid for node in pair]:
        raise OpPrereqError(
            f"node {kept.name} has no copy of the disks of instance {view.instance.name}, so it cannot be its secondary node"
            f" after the move; that is {names}",
            ECode.INVAL,
        )
    return None if target.uuid in [node.uuid for node in pair] else kept


async def check_third(parts: Parts, view: InstanceView, node: Node, kept: Node) -> None:
    """@raise OpPrereqError: the third node takes no instances, has no room or is of another group, or no copy can be kept."""
    check_online(kept, f"keep a copy of instance {view.instance.name} there")
    check_takes_instances(node)
    if node.group != kept.group:
        raise OpPrereqError(
            f"nodes {node.name} and {kept.name} are in different groups, but instance {view.instance.name} can be in one"
            " group only",
            ECode.INVAL,
        )
    wanted = [(part, part.size) for disk in view.disks for part in all_parts(disk)]
    await check_disk_room(parts.nodes, view.cluster, [node], wanted)
