"""The cluster's address on another interface, or with another netmask."""

from collections.abc import Awaitable, Callable

from ganeti_tx.errors import ECode, GanetiError, OpExecError, OpPrereqError
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.master_network import LONGEST_NETMASK, master_network
from ganeti_tx.model.opcodes import OpClusterSetParams
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeChangeMasterNetmask, NodeDeactivateMasterIp
from ganeti_tx.rpc.interfaces import RpcError

LATER = "take it with 'gnt-cluster activate-master-ip' when that is mended"

Change = Callable[[], Awaitable[None]]


def check_address(after: Cluster) -> None:
    """@raise OpPrereqError: no interface, or a netmask that no address of the cluster's kind has."""
    longest = LONGEST_NETMASK[after.primary_ip_family]
    if not after.master_netdev:
        raise OpPrereqError("master_netdev: the cluster's address needs an interface", ECode.INVAL)
    if not 0 < after.master_netmask <= longest:
        raise OpPrereqError(f"master_netmask must be from 1 to {longest}, not {after.master_netmask}", ECode.INVAL)


async def with_address(unit: LogicalUnit[OpClusterSetParams], before: Cluster, after: Cluster, change: Change) -> None:
    """Make a change of the configuration, and have the address follow it.

    @raise OpExecError: the address could not be given up on its old interface, and --force was not given.
    """
    if (before.master_netdev, before.use_external_mip_script) != (after.master_netdev, after.use_external_mip_script):
        await _give_up(unit, before)
        try:
            await change()
        except GanetiError:
            await _ask(unit, before, _activation(before))
            raise
        await _ask(unit, after, _activation(after))
    elif before.master_netmask != after.master_netmask:
        await change()
        netmasks = NodeChangeMasterNetmask(
            old_netmask=before.master_netmask, netmask=after.master_netmask, master_ip=after.master_ip,
            master_netdev=after.master_netdev,
        )  # fmt: skip
        await _ask(unit, after, netmasks)
    else:
        await change()


def _activation(cluster: Cluster) -> NodeActivateMasterIp:
    external = cluster.use_external_mip_script
    return NodeActivateMasterIp(master_params=master_network(cluster), use_external_mip_script=external)


async def _give_up(unit: LogicalUnit[OpClusterSetParams], cluster: Cluster) -> None:
    external = cluster.use_external_mip_script
    call = NodeDeactivateMasterIp(master_params=master_network(cluster), use_external_mip_script=external)
    try:
        await unit.nodes.call(await unit.config.node(cluster.master_node), call)
    except RpcError as error:
        if not unit.op.force:
            raise OpExecError(f"{error}; nothing was changed; --force changes the settings all the same") from None
        unit.warn(f"{error}; the old interface {cluster.master_netdev} may still have the cluster's address")


async def _ask(unit: LogicalUnit[OpClusterSetParams], cluster: Cluster, call: NodeCall[object]) -> None:
    try:
        await unit.nodes.call(await unit.config.node(cluster.master_node), call)
    except RpcError as error:
        unit.warn(f"{error}; {LATER}")
