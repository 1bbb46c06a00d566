"""The disks of an instance that changes its node."""

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.on_nodes import Warn
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevShutdown
from ganeti_tx.rpc.calls.mirror import BlockdevClose
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, RpcError


def specs_on(view: InstanceView, node: Node) -> list[DiskSpec]:
    """The disks as a node must know them, without the secrets of mirrors."""
    return [without_secret(spec) for spec in view.disk_specs(node)]


async def close(nodes: INodeRpc, view: InstanceView, node: Node) -> None:
    """Let nobody write to the disks on a node any more. @raise RpcError: somebody may."""
    await nodes.call(node, BlockdevClose(disks=specs_on(view, node), instance_name=view.instance.name))


async def shut_down(nodes: INodeRpc, view: InstanceView, node: Node) -> None:
    """Take the disks down on one node. @raise RpcError: one may be up."""
    for spec in specs_on(view, node):
        await nodes.call(node, BlockdevShutdown(disk=spec, owner=view.instance.name))


async def leave(nodes: INodeRpc, move: Move) -> None:
    """Nobody writes to the disks on the source any more; shared ones are down there, mirrors stay, to take what is written.

    @raise OpExecError: the source may still have them in use.
    """
    try:
        if move.is_mirrored:
            await _close_mirrors(nodes, move)
        else:
            await shut_down(nodes, move.before, move.source)
    except RpcError as error:
        raise OpExecError(f"could not take down the disks of instance {move.name}: {error}") from None


async def _close_mirrors(nodes: INodeRpc, move: Move) -> None:
    """One that is not up cannot be closed, but is down."""
    try:
        await close(nodes, move.before, move.source)
    except NodeCallError:
        await shut_down(nodes, move.before, move.source)


async def follow(nodes: INodeRpc, move: Move, warn: Warn) -> None:
    """Have the mirrors up on the source, which is where the copies are now; the instance can do without."""
    if not move.is_mirrored:
        return
    for spec in move.after.disk_specs(move.source):
        call = BlockdevAssemble(disk=spec, owner=move.name, hypervisor=move.instance.hypervisor.value, on_primary=False)
        try:
            await nodes.call(move.source, call)
        except RpcError as error:
            warn(f"disk/{spec.index} is not made ready on node {move.source.name}: {error}")


def shutdowns_on_target(move: Move) -> list[Undo]:
    """What takes the disks down on the target again; of mirrors, what gives the role of the primary side back."""
    specs, owner = specs_on(move.after, move.target), move.name
    if move.is_mirrored:
        call = BlockdevClose(disks=specs, instance_name=owner)
        return [on_node(f"close the disks of instance {owner}", move.target, call)]
    return [
        on_node(
            f"shut down disk/{spec.index} of instance {owner}", move.target, BlockdevShutdown(disk=spec, owner=owner)
        )
        for spec in reversed(specs)
    ]
