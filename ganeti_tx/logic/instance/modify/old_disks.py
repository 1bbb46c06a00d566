"""The disks that leave an instance: taken down, and removed with their data unless they are only detached.

By then the configuration has them as nobody's, and the change is not taken back any more: what has begun to be removed is
removed to its end.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.on_nodes import homes
from ganeti_tx.logic.instance.modify.new_disks import names
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.undos import in_config, on_node
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevRemove, BlockdevShutdown
from ganeti_tx.rpc.interfaces import NodeOfflineError, RpcError


def leaving(before: InstanceView, index: int, removed: bool) -> PlannedStep:
    """The step by which a disk leaves."""
    disk = before.disks[index]
    verb = "remove" if removed else "take down"
    return PlannedStep(
        f"{verb} what was disk/{index}", names(before, disk), (f"disk/{index} of instance {before.instance.name}",)
    )


def spec_of(before: InstanceView, node: Node, index: int, named: int) -> DiskSpec:
    """A disk that has left, with the place whose stable name goes with it; its own may be another disk's now."""
    return replace(without_secret(before.disk_specs(node)[index]), index=named)


async def take_down(parts: Parts, before: InstanceView, index: int, named: int) -> None:
    """A disk that keeps its data. @param named: the place whose stable name goes with it, -1 for none."""
    owner = before.instance.name
    async with parts.step(leaving(before, index, removed=False).title):
        for node in homes(before, before.disks[index]):
            try:
                await parts.nodes.call(node, BlockdevShutdown(disk=spec_of(before, node, index, named), owner=owner))
            except RpcError as error:
                parts.warn(f"could not shut down what was disk/{index} on node {node.name}: {error}")


async def replaced(parts: Parts, before: InstanceView, index: int, named: int) -> None:
    """A disk whose data are on another one now: what stays of it is only warned of. `completion` is written down by then."""
    disk, owner = before.disks[index], before.instance.name
    async with parts.step(leaving(before, index, removed=True).title):
        for node in homes(before, disk):
            try:
                await parts.nodes.call(node, BlockdevRemove(disk=spec_of(before, node, index, named), owner=owner))
            except RpcError as error:
                parts.warn(f"could not remove disk/{index}, as it was, on node {node.name}: {error}")
        await parts.config.remove_disk(disk.uuid)


async def remove(parts: Parts, before: InstanceView, index: int, named: int) -> None:
    """A disk with its data. @raise OpExecError: a node has it still; then the configuration has it, too.

    `completion` is written down by then.
    """
    disk, owner = before.disks[index], before.instance.name
    async with parts.step(leaving(before, index, removed=True).title):
        for node in homes(before, disk):
            try:
                await parts.nodes.call(node, BlockdevRemove(disk=spec_of(before, node, index, named), owner=owner))
            except NodeOfflineError as error:
                if node is before.primary:
                    raise still_there(disk, node, error) from None
                parts.warn(f"what was disk/{index} is still on node {node.name}: {error}")
            except RpcError as error:
                raise still_there(disk, node, error) from None
        await parts.config.remove_disk(disk.uuid)


def completion(before: InstanceView, index: int, named: int, *, needed: bool = True) -> Sequence[Undo]:
    """What ends a removal that was broken off: it cannot be taken back.

    @param needed: whether the configuration keeps a disk that a node may have.
    """
    disk, owner = before.disks[index], before.instance.name
    calls = [
        on_node(
            f"remove what was disk/{index} of instance {owner}",
            node,
            BlockdevRemove(disk=spec_of(before, node, index, named), owner=owner),
            otherwise=kept(disk, node) if needed else None,
        )
        for node in homes(before, disk)
    ]
    return [in_config(f"forget what was disk/{index} of instance {owner}", IConfig.remove_disk, disk.uuid), *calls]


def still_there(disk: Disk, node: Node, error: RpcError) -> OpExecError:
    """Why a disk was not removed."""
    return OpExecError(f"all else is changed, but {kept(disk, node)}: {error}")


def kept(disk: Disk, node: Node) -> str:
    """What is told of a disk that could not be removed."""
    return (
        f"disk {disk.uuid} may still be on node {node.name}, so the configuration keeps it as nobody's; when the node can"
        f" be reached, attach it (--disk attach:uuid={disk.uuid}) and remove it"
    )
