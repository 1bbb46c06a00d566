"""Who may write to the disks of an instance that migrates: first both nodes, then the new one alone.

Shared disks only have to be ready on both; mirrors are primary on both sides for that time (reference: storage-rules.json).
"""

from collections.abc import Sequence

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.instance.moves.disks import close, shut_down, specs_on
from ganeti_tx.logic.instance.moves.move import Move, is_mirrored
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevShutdown
from ganeti_tx.rpc.calls.mirror import BlockdevClose, BlockdevOpen, DrbdAttachNet, DrbdDisconnectNet, DrbdWaitSync
from ganeti_tx.rpc.interfaces import RpcError

#: Seconds between two looks, and looks until mirrors that were alike must be it again.
INTERVAL = 1.0
MAX_LOOKS = 600


def back(move: Move) -> list[Undo]:
    """What makes the source the only node again that may write; the last one is done first."""
    specs, owner = specs_on(move.after, move.target), move.name
    if not move.is_mirrored:
        calls = [BlockdevShutdown(disk=spec, owner=owner) for spec in reversed(specs)]
        return [on_node(f"shut down disk/{call.disk.index} of instance {owner}", move.target, call) for call in calls]
    both = (move.source, move.target)
    single = [
        on_node(
            "let one side write to the disks",
            node,
            DrbdAttachNet(disks=specs_on(move.before, node), multimaster=False),
        )
        for node in both
    ]
    apart = [on_node("part the disks", node, DrbdDisconnectNet(disks=specs_on(move.before, node))) for node in both]
    closed = on_node("close the disks", move.target, BlockdevClose(disks=specs, instance_name=owner))
    return [*single, *apart, closed]


async def both_primary(parts: Parts, move: Move) -> None:
    """Have the disks ready on both nodes. @raise OpExecError: they are not."""
    both = (move.source, move.target)
    parts.info(f"* closing instance disks on node {move.target.name}")
    try:
        if move.is_mirrored:
            await close(parts.nodes, move.before, move.target)
            await reconnect(parts, move.before, both, multimaster=True)
        else:
            await assemble(parts, move)
        for node in both:
            parts.info(f"* opening instance disks on node {node.name} in shared mode")
            await open_disks(parts, move.before if node is move.source else move.after, node, exclusive=False)
    except RpcError as error:
        raise OpExecError(f"could not make the disks of instance {move.name} ready on both nodes: {error}") from None


async def one_primary(parts: Parts, view: InstanceView, leaving: Node, staying: Node) -> None:
    """Have only one node left that may write. @raise RpcError: another may. @raise OpExecError: mirrors are not alike."""
    parts.info(f"* closing instance disks on node {leaving.name}")
    if is_mirrored(view):
        await close(parts.nodes, view, leaving)
        await wait_until_alike(parts, view, staying)
        await reconnect(parts, view, (staying, leaving), multimaster=False)
    else:
        await close(parts.nodes, view, leaving)
        await shut_down(parts.nodes, view, leaving)
    parts.info(f"* opening instance disks on node {staying.name} in exclusive mode")
    await open_disks(parts, view, staying, exclusive=True)


async def assemble(parts: Parts, move: Move) -> None:
    """Shared disks are made ready on the target. @raise RpcError: one is not."""
    for spec in move.after.disk_specs(move.target):
        call = BlockdevAssemble(disk=spec, owner=move.name, hypervisor=move.instance.hypervisor.value, on_primary=False)
        await parts.nodes.call(move.target, call)


async def open_disks(parts: Parts, view: InstanceView, node: Node, *, exclusive: bool) -> None:
    """Let a node write."""
    specs = specs_on(view, node)
    call = BlockdevOpen(disks=specs, instance_name=view.instance.name, exclusive=exclusive)
    await parts.nodes.call(node, call)


async def reconnect(parts: Parts, view: InstanceView, nodes: Sequence[Node], *, multimaster: bool) -> None:
    """Have both sides find each other anew, with as many that may write as is wanted, and wait until they are alike."""
    parts.info("* changing into standalone mode")
    for node in nodes:
        await parts.nodes.call(node, DrbdDisconnectNet(disks=specs_on(view, node)))
    parts.info(f"* changing disks into {'dual' if multimaster else 'single'}-master mode")
    for node in nodes:
        await parts.nodes.call(node, DrbdAttachNet(disks=view.disk_specs(node), multimaster=multimaster))
    await wait_until_alike(parts, view, nodes[0])


async def wait_until_alike(parts: Parts, view: InstanceView, node: Node) -> None:
    """@raise OpExecError: they are not, after a long time."""
    parts.info("* wait until resync is done")
    for _ in range(MAX_LOOKS):
        progress = await parts.nodes.call(node, DrbdWaitSync(disks=specs_on(view, node)))
        if progress.done:
            return
        await parts.pause(INTERVAL)
    raise OpExecError(f"the disks of instance {view.instance.name} are not in sync after {MAX_LOOKS * INTERVAL:g} s")
