"""What the units have in common that look at one node group and change nothing."""

from collections.abc import Sequence
from typing import TypeVar

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.verify.scene import GroupScene
from ganeti_tx.logic.wanted_locks import on_instance, on_nodes
from ganeti_tx.model.opcodes import OpClusterVerifyGroup, OpGroupVerifyDisks

GroupOp = TypeVar("GroupOp", bound=OpClusterVerifyGroup | OpGroupVerifyDisks)


class GroupVerification(LogicalUnit[GroupOp]):
    """Holds the locks of the group, its nodes and their instances, shared; `scene` is what they are under these."""

    scene: GroupScene

    async def expand_names(self) -> None:
        """The group, with what is in it."""
        await self._read()

    async def _read(self) -> None:
        group = await self.config.group(self.op.group_name)
        self.scene = GroupScene(group, await self.config.everything())

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Nothing of the group may change while it is looked at."""
        if level is Level.INSTANCE:
            return [on_instance(view.instance.name, Mode.SHARED) for view in self.scene.instances]
        if level is Level.NODEGROUP:
            return [LockRequest(Lock(level, self.scene.group.uuid), Mode.SHARED)]
        return on_nodes([node.uuid for node in self.scene.nodes], Mode.SHARED) if level is Level.NODE else ()

    async def check(self) -> None:
        """Read it again under the locks."""
        await self._read()
