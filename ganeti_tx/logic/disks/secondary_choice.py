"""Whether a node can be the new second node of an instance."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.room import all_parts, check_disk_room
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.policy import check_move
from ganeti_tx.logic.questions import check_takes_instances
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup


async def check_new_secondary(
    parts: Parts, target: InstanceView, node: Node, group: NodeGroup, *, ignore_policy: bool
) -> None:
    """@raise OpPrereqError: it is one of its nodes already, takes no instances, has no room, or its group does not admit it."""
    if node.uuid == target.primary.uuid:
        raise OpPrereqError(f"The specified node {node.name} is the primary node of the instance", ECode.INVAL)
    if node.uuid in target.nodes:
        raise OpPrereqError(
            f"The specified node {node.name} is already the secondary node of the instance", ECode.INVAL
        )
    check_takes_instances(node)
    check_move(target, group, ignored=ignore_policy, warn=parts.warn)
    wanted = [(part, part.size) for disk in target.disks for part in all_parts(disk)]
    await check_disk_room(parts.nodes, target.cluster, [node], wanted)
