"""The disks of an instance on its nodes: making ready, taking down, removing."""

from collections.abc import Callable, Collection, Sequence

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevRemove, BlockdevShutdown
from ganeti_tx.rpc.interfaces import INodeRpc, NodeOfflineError, RpcError

Warn = Callable[[str], None]


async def assemble_elsewhere(nodes: INodeRpc, target: InstanceView, warn: Warn, *, needed: bool = True) -> None:
    """Make the disks ready on the nodes where the instance does not run; a start does it on the primary one, after that.

    One that is offline is warned of: a mirror does without. @param needed: whether it has to do with the others.

    @raise OpExecError: another one cannot, and is needed.
    """
    instance = target.instance
    for index, disk in enumerate(target.disks):
        for node in (each for each in homes(target, disk) if each is not target.primary):
            spec = target.disk_specs(node)[index]
            call = BlockdevAssemble(
                disk=spec, owner=instance.name, hypervisor=instance.hypervisor.value, on_primary=False
            )
            try:
                await nodes.call(node, call)
            except NodeOfflineError as error:
                warn(f"disk/{index} is not made ready on node {node.name}: {error}")
            except RpcError as error:
                if needed:
                    raise OpExecError(
                        f"could not make disk/{index} of instance {instance.name} ready: {error}"
                    ) from None
                warn(f"could not make disk/{index} ready on node {node.name}: {error}")


async def shutdown_disks(
    nodes: INodeRpc, target: InstanceView, warn: Warn, only: Collection[int] | None = None
) -> bool:
    """Take the disks down on all their nodes; False, with a warning each, when some stay up.

    @param only: the indices of the disks that are meant, if not all are.
    """
    owner = target.instance.name
    return await on_each(
        nodes, target, lambda disk: BlockdevShutdown(disk=without_secret(disk), owner=owner), "shut down", warn, only
    )


def shutdowns(target: InstanceView, only: Collection[int] | None = None, otherwise: str | None = None) -> list[Undo]:
    """What takes the disks down again, the last one first, as undos are done: then in the order of `shutdown_disks`.

    @param otherwise: what is told when a disk may stay ready; what was done before stays then.
    """
    owner = target.instance.name
    calls = [
        (index, node, BlockdevShutdown(disk=target.disk_specs(node)[index], owner=owner))
        for index, disk in enumerate(target.disks)
        if only is None or index in only
        for node in homes(target, disk)
    ]
    return [
        on_node(f"shut down disk/{index} of instance {owner}", node, call, otherwise)
        for index, node, call in reversed(calls)
    ]


async def remove_disks(nodes: INodeRpc, target: InstanceView, warn: Warn) -> bool:
    """Remove the disks from all their nodes; False, with a warning each, when some stay."""
    owner = target.instance.name
    return await on_each(
        nodes, target, lambda disk: BlockdevRemove(disk=without_secret(disk), owner=owner), "remove", warn
    )


async def on_each(
    nodes: INodeRpc,
    target: InstanceView,
    call: Callable[[DiskSpec], NodeCall[object]],
    verb: str,
    warn: Warn,
    only: Collection[int] | None = None,
) -> bool:
    """One call for each disk and node, in order; an offline secondary does not count as a failure."""
    well = True
    for index, disk in enumerate(target.disks):
        for node in homes(target, disk) if only is None or index in only else ():
            try:
                await nodes.call(node, call(target.disk_specs(node)[index]))
            except RpcError as error:
                warn(f"could not {verb} disk/{index} on node {node.name}: {error}")
                if not (isinstance(error, NodeOfflineError) and node is not target.primary):
                    well = False
    return well


def homes(target: InstanceView, disk: Disk) -> Sequence[Node]:
    """The nodes that hold a disk; shared storage, which names none, is reached from the primary node."""
    return [target.nodes[uuid] for uuid in disk.nodes] or [target.primary]


def disk_nodes(target: InstanceView) -> tuple[str, ...]:
    """The names of the nodes that hold disks, in order; the primary's of an instance without any."""
    names = dict.fromkeys(node.name for disk in target.disks for node in homes(target, disk))
    return tuple(names) or (target.primary.name,)
