"""Giving a node group another name."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.group.on_group import check_free, described, given_to, left_by, nodes_of_group, on_groups
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes import OpGroupRename

RENAME = "rename the group"


class LUGroupRename(LogicalUnit[OpGroupRename]):
    """Rename a group; everything else knows it by its uuid, save the scopes of the Remote API."""

    hook = Hook("group-rename", HookObject.GROUP)

    _group: NodeGroup

    async def expand_names(self) -> None:
        """Which group."""
        self._group = await self.config.group(self.op.group_name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The group."""
        return on_groups(self._group.uuid) if level is Level.NODEGROUP else ()

    async def check(self) -> None:
        """The new name is free."""
        self._group = await self.config.group(self._group.uuid)
        name = self.op.new_name
        await check_free(self.config, name, f"Desired new name '{name}' clashes with existing node group")
        scopes = self.context.group_scopes()
        for told in (*left_by(self._group.name, scopes), *given_to(name, scopes)):
            self.warn(told)

    async def hook_values(self) -> Mapping[str, object]:
        """Both names."""
        return {"OLD_NAME": self._group.name, "NEW_NAME": self.op.new_name}

    async def object_nodes(self) -> Sequence[Node]:
        """The group's nodes."""
        return await nodes_of_group(self.config, self._group)

    def plan(self) -> Plan:
        """One change."""
        return [PlannedStep(RENAME, (), described(self._group))]

    async def execute(self) -> str:
        """Gives the new name."""
        async with self.step(RENAME):
            await self.config.update_group(replace(self._group, name=self.op.new_name))
        return self.op.new_name
