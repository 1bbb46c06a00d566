"""Another secondary address for a node."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.questions import ask
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.ip_family import secondary_fault
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.opcodes import OpNodeSetParams
from ganeti_tx.rpc.calls.node import NodeHasIpAddress


async def check_secondary(
    unit: LogicalUnit[OpNodeSetParams], node: Node, others: Sequence[Node], cluster: Cluster
) -> None:
    """@raise OpPrereqError: no address, not this node's own, or in use."""
    address = str(unit.op.secondary_ip)
    if (fault := secondary_fault(address)) is not None:
        raise OpPrereqError(f"secondary address {fault}", ECode.INVAL)
    if address == cluster.master_ip:
        raise OpPrereqError(f"address {address} belongs to the cluster {cluster.cluster_name} itself", ECode.NOTUNIQUE)
    for other in others:
        if address in (other.primary_ip, other.secondary_ip):
            raise OpPrereqError(f"address {address} belongs to node {other.name} already", ECode.NOTUNIQUE)
    double = [other for other in others if other.primary_ip != other.secondary_ip]
    if others and not unit.op.force and bool(double) != (address != node.primary_ip):
        has = "have" if double else "do not have"
        raise OpPrereqError(
            f"the other nodes {has} a secondary address of their own, and all nodes should be alike; give --force to "
            "change one node after the other",
            ECode.INVAL,
        )
    if node.uuid != cluster.master_node and node.offline and unit.op.offline is not False:
        raise OpPrereqError(f"node {node.name} is offline, so its secondary address cannot be changed", ECode.STATE)
    await _check_unused(unit, node)
    target = NodeAddress(node.name, node.primary_ip)  # one that comes back is asked too
    if not await ask(unit.nodes, target, NodeHasIpAddress(address=address), ECode.ENVIRON):
        raise OpPrereqError(f"node {node.name} does not have the secondary address {address}", ECode.ENVIRON)


async def _check_unused(unit: LogicalUnit[OpNodeSetParams], node: Node) -> None:
    """Mirrors that are in use talk over the secondary address."""
    primary, secondary = await unit.config.instances_of_node(node.uuid)
    views = await unit.config.instance_views([instance.uuid for instance in (*primary, *secondary)])
    for view in views.each():
        instance, mirrored = view.instance, any(disk.mirrors for disk in view.disks)
        if mirrored and (instance.admin_state is AdminState.UP or instance.disks_active):
            raise OpPrereqError(
                f"instance {instance.name} mirrors its disks over node {node.name}'s secondary address; shut it down first",
                ECode.STATE,
            )
