"""The disks that come to an instance: created, made ready, and alike on their nodes."""

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.adopt import renamed
from ganeti_tx.logic.disks.make import Making, create_on, creation, making
from ganeti_tx.logic.disks.on_nodes import Warn, homes
from ganeti_tx.logic.disks.plan import DiskPlan
from ganeti_tx.logic.disks.sync import wait_for_sync
from ganeti_tx.logic.disks.wipe import is_wiped, resumptions, wipe
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.steps import Steps
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import together
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView, view_of
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevCreate, BlockdevRemove, BlockdevShutdown
from ganeti_tx.rpc.interfaces import INodeRpc, NodeOfflineError, RpcError

READY = "make the new disks ready"


def chosen(target: InstanceView, uuids: Collection[str]) -> list[tuple[int, Disk]]:
    """Some disks of an instance, with their places."""
    return [(index, disk) for index, disk in enumerate(target.disks) if disk.uuid in uuids]


def creations_of(target: InstanceView, uuids: Collection[str]) -> list[PlannedStep]:
    """A step for each disk that is to be created."""
    return [
        PlannedStep(creation(index), names(target, disk), (f"disk/{index} of instance {target.instance.name}",))
        for index, disk in chosen(target, uuids)
    ]


def names(target: InstanceView, disk: Disk) -> tuple[str, ...]:
    """The names of the nodes that hold a disk."""
    return tuple(node.name for node in homes(target, disk))


async def create(nodes: INodeRpc, target: InstanceView, plans: Mapping[str, DiskPlan], steps: Steps) -> None:
    """Create the planned disks; each is removed again if something fails later. @raise OpExecError: one was not made."""
    for index, disk in chosen(target, plans):
        adopted = renamed([plans[disk.uuid]]).get(0)
        await create_on(
            nodes, target, steps, index, {node.name: made(target, node, index, adopted) for node in homes(target, disk)}
        )


def made(target: InstanceView, node: Node, index: int, adopted: Sequence[object] | None) -> Making:
    """What makes a disk on one of its nodes, and what takes that back."""
    if adopted is not None:
        return making(target, node, index, adopted)
    spec, owner = unnamed(target, node, index), target.instance.name
    undo = on_node(f"remove disk/{index} of instance {owner}", node, BlockdevRemove(disk=spec, owner=owner))
    whole = together(target.disk_specs(node))[index]
    return BlockdevCreate(disk=replace(whole, index=-1), owner=owner), undo


def unnamed(target: InstanceView, node: Node, index: int) -> DiskSpec:
    """A disk before it is the instance's: until then another one may have the stable name of its place."""
    return replace(target.disk_specs(node)[index], index=-1)


async def bring(
    parts: Parts, target: InstanceView, uuids: Collection[str], new: Mapping[str, DiskPlan], *, wait: bool
) -> None:
    """Make disks that have come ready, wipe the new ones where the cluster wants it, and wait until they are alike.

    They stay ready where the others are. @raise OpExecError: one is not.
    """
    disks = [disk for _, disk in chosen(target, uuids)]
    wiped = [
        index for index, disk in chosen(target, new) if is_wiped(target.cluster, disk) and new[disk.uuid].adopt is None
    ]
    async with parts.step(READY, *downs(target, uuids), *resumptions(target, wiped)):
        await assemble(parts.nodes, target, uuids, parts.warn)
        for index in wiped:
            await wipe(parts, target, index, 0, target.disks[index].size)
        if wait:
            await wait_for_sync(parts.nodes, only(target, disks), parts.info, parts.pause)
        if not target.instance.disks_active:
            await take_down(parts.nodes, target, uuids, parts.warn)


async def assemble(nodes: INodeRpc, target: InstanceView, uuids: Collection[str], warn: Warn) -> None:
    """Make disks ready, on the primary node last. @raise OpExecError: one is not, and not only for an offline secondary."""
    instance = target.instance
    for index, disk in chosen(target, uuids):
        for node in sorted(homes(target, disk), key=lambda each: each is target.primary):
            call = BlockdevAssemble(
                disk=unnamed(target, node, index),
                owner=instance.name,
                hypervisor=instance.hypervisor.value,
                on_primary=node is target.primary,
            )
            try:
                await nodes.call(node, call)
            except NodeOfflineError as error:
                if node is target.primary:
                    raise not_ready(target, index, error) from None
                warn(f"disk/{index} is not made ready on node {node.name}: {error}")
            except RpcError as error:
                raise not_ready(target, index, error) from None


def not_ready(target: InstanceView, index: int, error: RpcError) -> OpExecError:
    """What is told of a disk that cannot be made ready."""
    return OpExecError(f"could not make disk/{index} of instance {target.instance.name} ready: {error}")


def downs(target: InstanceView, uuids: Collection[str]) -> list[Undo]:
    """What takes disks down again."""
    owner = target.instance.name
    return [
        on_node(f"shut down disk/{index} of instance {owner}", node, shutdown(target, index, node))
        for index, disk in chosen(target, uuids)
        for node in homes(target, disk)
    ]


async def take_down(nodes: INodeRpc, target: InstanceView, uuids: Collection[str], warn: Warn) -> None:
    """Take disks down on all their nodes, as far as that goes."""
    for index, disk in chosen(target, uuids):
        for node in homes(target, disk):
            try:
                await nodes.call(node, shutdown(target, index, node))
            except RpcError as error:
                warn(f"could not shut down disk/{index} on node {node.name}: {error}")


def shutdown(target: InstanceView, index: int, node: Node) -> BlockdevShutdown:
    """What takes a disk down."""
    return BlockdevShutdown(disk=unnamed(target, node, index), owner=target.instance.name)


async def name_anew(parts: Parts, target: InstanceView) -> None:
    """Let the stable names of an instance's places lead to the disks that have these now, which are ready."""
    instance, node = target.instance, target.primary
    for spec in target.disk_specs():
        call = BlockdevAssemble(disk=spec, owner=instance.name, hypervisor=instance.hypervisor.value)
        try:
            await parts.nodes.call(node, call)
        except RpcError as error:
            parts.warn(f"the stable name of disk/{spec.index} on node {node.name} may lead to another disk: {error}")


def only(target: InstanceView, disks: Sequence[Disk]) -> InstanceView:
    """The instance as if it had no other disks."""
    return view_of(
        replace(target.instance, disks=tuple(disk.uuid for disk in disks)),
        cluster=target.cluster,
        disks={disk.uuid: disk for disk in disks},
        nodes=target.nodes,
        groups=target.groups,
        networks=target.networks,
    )
