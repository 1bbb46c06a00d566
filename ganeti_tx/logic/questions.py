"""Node calls made while checking: a node that says no, or says nothing, makes the request impossible."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.node import BridgesExist, NodeInfo, StorageUnit
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, R, RpcError, Target


async def ask(
    nodes: INodeRpc,
    node: Target,
    call: NodeCall[R],
    refusal: ECode = ECode.INVAL,
    told: str | None = None,
    timeout: float | None = None,
) -> R:
    """The call's result. @raise OpPrereqError: of kind `refusal` when the node says no, else environment_error.

    @param told: what Ganeti says before the reason, which names the node.
    @param timeout: seconds that it has, if not those of the call.
    """
    try:
        return await nodes.call(node, call, timeout)
    except NodeCallError as error:
        raise OpPrereqError(f"{told}: {error.cause}" if told else str(error), refusal) from None
    except RpcError as error:
        raise OpPrereqError(f"{told}: {error}" if told else str(error), ECode.ENVIRON) from None


async def ask_os(nodes: INodeRpc, node: Node, call: OsValidate) -> bool:
    """Whether a node has an operating system. @raise OpPrereqError: it cannot install or run it as that is wanted."""
    return await ask(nodes, node, call, told=f"OS Parameters validation failed on node {node.name}")


async def ask_bridges(nodes: INodeRpc, node: Node, question: BridgesExist) -> None:
    """@raise OpPrereqError: a node does not have all that interfaces are to be plugged into."""
    await ask(nodes, node, question, ECode.ENVIRON, f"Error checking bridges on destination node '{node.name}'")


def check_online(node: Node, purpose: str) -> None:
    """@raise OpPrereqError: the node is marked offline."""
    if node.offline:
        raise OpPrereqError(f"Can't use offline node: {node.name}; cannot {purpose}", ECode.STATE)


def check_takes_instances(node: Node) -> None:
    """@raise OpPrereqError: no new instance may come to the node."""
    check_online(node, "use it for new instances")
    if node.drained:
        raise OpPrereqError(f"node {node.name} is drained: cannot use it for new instances", ECode.STATE)
    if not node.vm_capable:
        raise OpPrereqError(f"node {node.name} is not vm_capable: cannot use it for instances", ECode.STATE)


async def check_free_memory(nodes: INodeRpc, node: Node, hypervisor: str, wanted: int, purpose: str) -> None:
    """@raise OpPrereqError: the node has not so many MiB free, or cannot tell."""
    facts = await ask(nodes, node, NodeInfo(storage_units=[], hypervisors=[hypervisor]), ECode.ENVIRON)
    free = facts.hypervisors.get(hypervisor, {}).get("memory_free")
    if not isinstance(free, int):
        raise OpPrereqError(
            f"cannot compute free memory of node {node.name}: {hypervisor} does not tell", ECode.ENVIRON
        )
    if wanted > free:
        raise OpPrereqError(
            f"Not enough memory on node {node.name} for {purpose}: needed {wanted} MiB, available {free} MiB",
            ECode.NORES,
        )


async def check_room(
    nodes: INodeRpc, node: Node, wanted: Sequence[tuple[StorageUnit, int]], *, exclusive: bool = False
) -> None:
    """@raise OpPrereqError: a pool has not so many MiB free, or is a volume group that is not there; another one whose room
        the node cannot tell is tried.

    @param exclusive: only physical volumes count on which nothing lies.
    """
    if not wanted:
        return
    call = NodeInfo(storage_units=[unit.of(exclusive) for unit, _ in wanted], hypervisors=[])
    facts = await ask(nodes, node, call, ECode.ENVIRON)
    free = {(space.type, space.name): space.storage_free for space in facts.storage}
    for unit, size in wanted:
        room = free.get((unit.type, unit.name))
        if room is None and unit.type == StorageType.LVM_VG.value:
            raise OpPrereqError(f"volume group '{unit.name}' missing on node {node.name}", ECode.ENVIRON)
        if room is not None and room < size:
            raise OpPrereqError(
                f"not enough room in {unit.name} of node {node.name}: needed {size} MiB, free {room} MiB",
                ECode.NORES,
            )
