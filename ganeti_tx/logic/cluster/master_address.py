"""The cluster's address on another interface, or with another netmask."""

from collections.abc import Awaitable, Callable

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.undos import on_node
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.master_network import LONGEST_NETMASK, master_network
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpClusterSetParams
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.check_answers import CheckAnswers
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeChangeMasterNetmask, NodeDeactivateMasterIp
from ganeti_tx.rpc.calls.node import NodeVerify
from ganeti_tx.rpc.interfaces import RpcError

LATER = "take it with 'gnt-cluster activate-master-ip' when that is mended"

GIVE_UP = "give the cluster's address up on its old interface"
TAKE, NETMASK = "take the cluster's address", "give the cluster's address its new netmask"

#: The check of nodes that names the missing ones of some network interfaces.
INTERFACES = "interfaces"

Change = Callable[[], Awaitable[None]]


def check_address(after: Cluster) -> None:
    """@raise OpPrereqError: no interface, or a netmask that no address of the cluster's kind has."""
    longest = LONGEST_NETMASK[after.primary_ip_family]
    if not after.master_netdev:
        raise OpPrereqError("master_netdev: the cluster's address needs an interface", ECode.INVAL)
    if not 0 < after.master_netmask <= longest:
        raise OpPrereqError(f"master_netmask must be from 1 to {longest}, not {after.master_netmask}", ECode.INVAL)


async def check_interface(unit: LogicalUnit[OpClusterSetParams], after: Cluster, timeout: float) -> None:
    """The interface is there on the master; warn of candidates, which may become the master, without it.

    A script of the administrator's own may do without, and --force says that it will be there.

    @raise OpPrereqError: the master does not have it.
    """
    nodes = [node for node in await unit.config.nodes() if node.master_candidate and not node.offline]
    call = NodeVerify(checks={INTERFACES: [after.master_netdev]}, cluster_name=after.cluster_name)
    told = await unit.nodes.call_many(nodes, call, timeout)
    without = [node for node in nodes if (told[node.name].value or CheckAnswers()).get(INTERFACES)]
    if not without:
        return
    text = f"there is no network interface '{after.master_netdev}' on {', '.join(node.name for node in without)}"
    if any(node.uuid == after.master_node for node in without) and not (unit.op.force or after.use_external_mip_script):
        raise OpPrereqError(f"master_netdev: {text}; --force sets it all the same", ECode.ENVIRON)
    unit.warn(f"{text}, which could not take the cluster's address")


def moves(before: Cluster, after: Cluster) -> bool:
    """Whether the address goes to another interface, or is taken in another way."""
    return (before.master_netdev, before.use_external_mip_script) != (
        after.master_netdev,
        after.use_external_mip_script,
    )


def address_steps(change: PlannedStep, before: Cluster, after: Cluster, master: Node) -> list[PlannedStep]:
    """The steps of `with_address`, around that of the change itself."""
    address, node = (f"address {after.master_ip}",), (master.name,)
    if moves(before, after):
        return [PlannedStep(GIVE_UP, node, address), change, PlannedStep(TAKE, node, address)]
    if before.master_netmask != after.master_netmask:
        return [change, PlannedStep(NETMASK, node, address)]
    return [change]


async def with_address(
    unit: LogicalUnit[OpClusterSetParams], before: Cluster, after: Cluster, master: Node, change: Change
) -> None:
    """Make a change of the configuration, and have the address follow it; when that fails it stays where it was.

    @raise OpExecError: the address could not be given up on its old interface, and --force was not given.
    """
    if not moves(before, after):
        await change()
        if before.master_netmask != after.master_netmask:
            unit.info(f"Changing master IP netmask to {after.master_netmask}")
            await _ask(unit, NETMASK, master, _other_netmask(before, after))
        return
    moved = before.master_netdev != after.master_netdev
    if moved:
        unit.info(f"Shutting down master ip on the current netdev ({before.master_netdev})")
    async with unit.step(GIVE_UP, on_node("take the cluster's address again", master, _activation(before))):
        await _give_up(unit, before, master)
    if moved:
        unit.info(f"Changing master_netdev from {before.master_netdev} to {after.master_netdev}")
    await change()
    await unit.context.steps.settle()
    if moved:
        unit.info(f"Starting the master ip on the new master netdev ({after.master_netdev})")
    await _ask(unit, TAKE, master, _activation(after))


def _other_netmask(before: Cluster, after: Cluster) -> NodeChangeMasterNetmask:
    return NodeChangeMasterNetmask(
        old_netmask=before.master_netmask, netmask=after.master_netmask, master_ip=after.master_ip,
        master_netdev=after.master_netdev,
    )  # fmt: skip


def _activation(cluster: Cluster) -> NodeActivateMasterIp:
    external = cluster.use_external_mip_script
    return NodeActivateMasterIp(master_params=master_network(cluster), use_external_mip_script=external)


async def _give_up(unit: LogicalUnit[OpClusterSetParams], cluster: Cluster, master: Node) -> None:
    external = cluster.use_external_mip_script
    call = NodeDeactivateMasterIp(master_params=master_network(cluster), use_external_mip_script=external)
    try:
        await unit.nodes.call(master, call)
    except RpcError as error:
        if not unit.op.force:
            raise OpExecError(f"{error}; nothing was changed; --force changes the settings all the same") from None
        unit.warn(f"{error}; the old interface {cluster.master_netdev} may still have the cluster's address")


async def _ask(unit: LogicalUnit[OpClusterSetParams], title: str, master: Node, call: NodeCall[None]) -> None:
    async with unit.step(title):
        try:
            await unit.nodes.call(master, call)
        except RpcError as error:
            unit.warn(f"{error}; {LATER}")
