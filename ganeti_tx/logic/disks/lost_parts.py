"""Volumes that lie in a pool of a node which has lost what they lay on: as long as they are there it cannot be changed at all."""

from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.errors import ECode
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, StorageType
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.rpc.calls.disk import BlockdevRemove, BlockdevShutdown, BlockdevStates
from ganeti_tx.rpc.calls.mirror import BlockdevRemovechildren
from ganeti_tx.rpc.interfaces import INodeRpc


@frozen
class LostParts:
    """Of one disk on one node; `parts` is the disk itself if it is not made of others."""

    view: InstanceView
    node: Node
    disk: DiskSpec
    parts: Sequence[DiskSpec]

    @property
    def is_mirrored(self) -> bool:
        """Whether another node has a copy."""
        return bool(self.disk.children)

    @property
    def name(self) -> str:
        """For people."""
        return f"disk/{self.disk.index} of instance '{self.view.instance.name}'"

    async def drop(self, nodes: INodeRpc) -> None:
        """Have the primary node's mirror go on without them, or take the disk down, and remove them.

        @raise RpcError: one is in use.
        """
        if self.is_mirrored and self.view.instance.disks_active and self.node.uuid == self.view.primary.uuid:
            await nodes.call(self.node, BlockdevRemovechildren(disk=self.disk))
        else:
            await nodes.call(self.node, BlockdevShutdown(disk=self.disk, owner=self.view.instance.name))
        for part in self.parts:
            await nodes.call(self.node, BlockdevRemove(disk=part, owner=self.view.instance.name))


async def lost_parts(
    nodes: INodeRpc, view: InstanceView, node: Node, kind: StorageType, pool: str
) -> Sequence[LostParts]:
    """Those of an instance in a pool. @raise OpPrereqError: the node does not tell."""
    found = []
    for disk in map(without_secret, view.disk_specs(node)):
        there = [part for part in disk.children or [disk] if lies_in(part, kind, pool)]
        states = await ask(nodes, node, BlockdevStates(disks=there), ECode.ENVIRON) if there else []
        lost = [
            part
            for part, state in zip(there, states, strict=True)
            if state.status is not None and state.status.ldisk_status is LocalDiskStatus.FAULTY
        ]
        if lost:
            found.append(LostParts(view, node, disk, lost))
    return found


def lies_in(part: DiskSpec, kind: StorageType, pool: str) -> bool:
    """Whether its logical id begins with this pool."""
    storage = TEMPLATES[DiskTemplate(part.dev_type)].storage
    return storage is kind and (part.logical_id or [])[:1] == [pool]
