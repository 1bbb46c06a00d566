"""Disks that are named after their instance, when that is renamed."""

from collections.abc import Sequence

import attrs
from msgspec.structs import replace

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.on_nodes import homes
from ganeti_tx.logic.steps import Steps
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.logical_id import of_renamed
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevRename
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError

MOVE = "rename its disks"


@attrs.frozen
class Moved:
    """A disk on one of its nodes, and its logical id to come."""

    owner: str
    node: Node
    disk: Disk
    spec: DiskSpec
    logical_id: tuple[str | int, ...]

    def call(self) -> BlockdevRename:
        """What moves it."""
        return BlockdevRename(disk=without_secret(self.spec), owner=self.owner, logical_id=list(self.logical_id))

    def undo(self) -> Undo:
        """What moves it back."""
        there = replace(self.spec, logical_id=list(self.logical_id))
        call = BlockdevRename(disk=without_secret(there), owner=self.owner, logical_id=list(self.disk.logical_id or ()))
        return on_node(f"rename disk/{self.spec.index} of instance {self.owner} back", self.node, call)


def moved_disks(target: InstanceView, name: str) -> list[Moved]:
    """The disks whose logical ids change with the instance's name, on each of their nodes."""
    owner = target.instance.name
    return [
        Moved(owner, node, disk, target.disk_specs(node)[index], tuple(renamed))
        for index, disk in enumerate(target.disks)
        for renamed in [of_renamed(disk.template.logical_id, disk.logical_id, owner, name)]
        for node in homes(target, disk)
        if renamed is not None and tuple(renamed) != disk.logical_id
    ]


async def rename_disks(nodes: INodeRpc, moved: Sequence[Moved], steps: Steps) -> None:
    """Move them, each of which can be moved back. @raise OpExecError: one cannot be."""
    undos = {id(each): each.undo() for each in moved}
    async with steps.step(MOVE, *undos.values()):
        for each in moved:
            try:
                await nodes.call(each.node, each.call())
            except RpcError as error:
                if not error.may_be_done:
                    steps.nothing_to_undo(undos[id(each)])
                raise OpExecError(
                    f"could not rename disk/{each.spec.index} of instance {each.owner}: {error}"
                ) from None
