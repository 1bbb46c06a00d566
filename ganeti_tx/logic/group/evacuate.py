"""Moving all instances of a node group to other groups."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.group.on_group import listed, nodes_of_group, on_groups
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes import OpGroupEvacuate


class LUGroupEvacuate(LogicalUnit[OpGroupEvacuate]):
    """Find the jobs that empty a group: none where it has no instances, which cannot be moved between groups in this version."""

    hook = Hook("group-evacuate", HookObject.GROUP)

    _group: NodeGroup
    _targets: list[NodeGroup]

    async def expand_names(self) -> None:
        """Which group, and which ones may be moved to: all others where none is named."""
        self._group = await self.config.group(self.op.group_name)
        named = await listed(self.config, self.op.target_groups or ())
        if self._group in named:
            names = ", ".join(group.name for group in named)
            raise OpPrereqError(
                f"Group to be evacuated ({self._group.name}) can not be used as a target group (targets are {names})",
                ECode.INVAL,
            )
        others = [group for group in await self.config.groups() if group.uuid != self._group.uuid]
        self._targets = named or others

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """All groups that are concerned."""
        uuids = [group.uuid for group in (self._group, *self._targets)]
        return on_groups(*uuids) if level is Level.NODEGROUP else ()

    async def check(self) -> None:
        """There is somewhere to go, and nothing has to."""
        if not self._targets:
            raise OpPrereqError("There are no possible target groups", ECode.INVAL)
        views = (await self.config.instance_views()).each()
        there = [view.instance.name for view in views if self._group.uuid in view.groups]
        if there:
            raise OpPrereqError(
                f"group {self._group.name} has instances, which cannot be moved to another group in this version: "
                + ", ".join(there),
                ECode.STATE,
            )

    async def hook_values(self) -> Mapping[str, object]:
        """The group, and where its instances may go."""
        targets = " ".join(group.name for group in self._targets)
        return {"GROUP_NAME": self._group.name, "TARGET_GROUPS": targets}

    async def object_nodes(self) -> Sequence[Node]:
        """The group's nodes."""
        return await nodes_of_group(self.config, self._group)

    async def execute(self) -> dict[str, Any]:
        """Gives the jobs."""
        return {"jobs": []}
