"""What a node may not become (design-2.0, Node flags)."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.instance.moves.away import ways_away
from ganeti_tx.logic.node.roles import FLAGS, Role, role_of
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.opcodes import OpNodeSetParams
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION
from ganeti_tx.rpc.calls.node import Version

SETTINGS = (*FLAGS, "master_capable", "vm_capable", "secondary_ip", "ndparams", "powered", "hv_state", "disk_state")


def check_asked(op: OpNodeSetParams) -> None:
    """@raise OpPrereqError: nothing is asked for, or two roles at a time."""
    if all(getattr(op, name) is None for name in SETTINGS):
        raise OpPrereqError(f"nothing to change; give at least one of {', '.join(SETTINGS)}", ECode.INVAL)
    wanted = [flag for flag in FLAGS if getattr(op, flag)]
    if len(wanted) > 1:
        raise OpPrereqError(f"a node has one role; it cannot be {' and '.join(wanted)} at the same time", ECode.INVAL)
    if op.master_candidate and op.master_capable is False:
        raise OpPrereqError("a node that is not master_capable cannot be a master candidate", ECode.INVAL)


def check_transition(node: Node, op: OpNodeSetParams, role: Role, master: str) -> None:
    """@raise OpPrereqError: the master would lose its role, or a node would skip one."""
    if node.uuid == master and (role is not Role.CANDIDATE or op.master_capable is False):
        raise OpPrereqError(
            f"node {node.name} is the master; another node becomes master with 'gnt-cluster master-failover', run there",
            ECode.INVAL,
        )
    if role is not Role.CANDIDATE:
        return
    capable = node.master_capable if op.master_capable is None else op.master_capable
    if not capable:
        raise OpPrereqError(f"node {node.name} is not master_capable, so it cannot be a master candidate", ECode.STATE)
    for flag in ("offline", "drained"):
        if getattr(node, flag) and getattr(op, flag) is not False:
            raise OpPrereqError(
                f"node {node.name} is {flag}; give --{flag}=no as well to make it a master candidate", ECode.STATE
            )


def check_power(node: Node, op: OpNodeSetParams, oob_program: str) -> None:
    """@raise OpPrereqError: nothing knows of the node's power, or one that has none would be online."""
    if op.powered is not None and not oob_program:
        raise OpPrereqError(f"node {node.name} has no oob_program, so its power is not known", ECode.STATE)
    powered = node.powered if op.powered is None else op.powered
    online = op.offline is False or (not node.offline and not op.offline)
    if not powered and online and (op.powered is False or node.offline):
        raise OpPrereqError(f"node {node.name} cannot be online without power; give --offline=yes", ECode.STATE)


async def check_instances(parts: Parts, node: Node, op: OpNodeSetParams, role: Role) -> None:
    """Warns of those that an offline node leaves without a node. @raise OpPrereqError: instances need the node as it is."""
    primary, secondary = await parts.config.instances_of_node(node.uuid)
    if op.vm_capable is False and (found := [*primary, *secondary]):
        raise OpPrereqError(
            f"instance {found[0].name} lives on node {node.name}, which must stay vm_capable", ECode.STATE
        )
    if role is Role.OFFLINE and role_of(node) is not role and primary:
        await _tell_of_left(parts, node, primary)


async def _tell_of_left(parts: Parts, node: Node, instances: Sequence[Instance]) -> None:
    """A line for all that the same brings elsewhere."""
    views = await parts.config.instance_views([instance.uuid for instance in instances])
    ways: dict[str, list[str]] = {}
    for view in views.each():
        ways.setdefault(ways_away(view.disk_template, views.cluster, node.name), []).append(view.instance.name)
    for way, names in ways.items():
        parts.warn(f"Node {node.name} is primary node of {', '.join(sorted(names))}; {way}")


async def check_back_online(parts: Parts, node: Node, role: Role) -> None:
    """@raise OpPrereqError: a node that shall not be offline any more does not answer, or speaks another protocol."""
    if not node.offline or role is Role.OFFLINE:
        return
    spoken = await ask(parts.nodes, NodeAddress(node.name, node.primary_ip), Version(), ECode.ENVIRON)
    if spoken != NODE_PROTOCOL_VERSION:
        raise OpPrereqError(
            f"node {node.name} speaks protocol {spoken}, the master {NODE_PROTOCOL_VERSION}; install the same version there",
            ECode.ENVIRON,
        )
    parts.warn(
        "Transitioning node from offline to online state without using re-add. Please make sure the node is healthy!"
    )
