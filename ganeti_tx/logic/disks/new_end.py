"""Another node for one of the two copies of mirrored disks: how they are made there, and recorded."""

from msgspec.structs import replace

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.health import named
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.undos import in_config
from ganeti_tx.model.disk import DiskPlace, place_of, with_place
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevCreate, BlockdevRemove, BlockdevStates
from ganeti_tx.rpc.interfaces import R, RpcError


async def turned(config: IConfig, view: InstanceView, old: Node, new: Node, group: NodeGroup) -> InstanceView:
    """The instance with the disks of one of its nodes on another, in the group; each keeps its secret, and has a minor
    there and a port that are reserved for it: the old node may be cut off, with the mirror set up, and would find its former
    partner at the old port. What the two have may be of one generation, and not alike.
    """
    minors = await config.allocate_minors([new.uuid] * len(view.disks))
    disks = []
    for disk, minor in zip(view.disks, minors, strict=True):
        ports = [await config.allocate_port() for _ in disk.ports]
        disks.append(with_place(disk, replace(_moved(place_of(disk), old, new, minor), ports=tuple(ports))))
    kept = {uuid: node for uuid, node in view.nodes.items() if uuid != old.uuid}
    return replace(view, disks=tuple(disks), nodes={**kept, new.uuid: new}, groups={**view.groups, group.uuid: group})


def _moved(place: DiskPlace, old: Node, new: Node, minor: int) -> DiskPlace:
    ends = {old.uuid: (new.uuid, minor)}
    pairs = [ends.get(node, (node, former)) for node, former in zip(place.nodes, place.minors, strict=True)]
    return replace(place, nodes=tuple(node for node, _ in pairs), minors=tuple(each for _, each in pairs))


async def clear(parts: Parts, view: InstanceView, node: Node) -> None:
    """Remove volumes there by the names of the instance's own: they are left of a time when it was there."""
    for spec in view.disk_specs(node):
        states = await tell(parts, view, node, BlockdevStates(disks=spec.children))
        if any(state.status is not None for state in states):
            await tell(parts, view, node, BlockdevRemove(disk=without_secret(spec), owner=view.instance.name))


async def create(parts: Parts, view: InstanceView, node: Node) -> None:
    """Make the disks there; they are not ready yet."""
    for spec in view.disk_specs(node):
        await tell(parts, view, node, BlockdevCreate(disk=spec, owner=view.instance.name))


async def assemble(parts: Parts, view: InstanceView, node: Node) -> None:
    """Make the disks ready there, as a side that is not written to."""
    instance = view.instance
    for spec in view.disk_specs(node):
        call = BlockdevAssemble(disk=spec, owner=instance.name, hypervisor=instance.hypervisor.value, on_primary=False)
        await tell(parts, view, node, call)


async def tell(parts: Parts, view: InstanceView, node: Node, call: NodeCall[R]) -> R:
    """@raise OpExecError: the node says no, or nothing."""
    try:
        return await parts.nodes.call(node, call)
    except RpcError as error:
        which = named(range(len(view.disks)))
        raise OpExecError(f"could not move the copies of {which} of instance {view.instance.name}: {error}") from None


async def place(config: IConfig, view: InstanceView) -> None:
    """Record where the instance and its disks are."""
    await config.place_instance(*_places(view))


def placing(title: str, view: InstanceView) -> Undo:
    """What records it, as an undo."""
    return in_config(title, IConfig.place_instance, *_places(view))


def _places(view: InstanceView) -> tuple[str, str, list[DiskPlace]]:
    return view.instance.uuid, view.instance.primary_node, [place_of(disk) for disk in view.disks]
