"""Removing a node group."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.group.on_group import described, left_by, nodes_of_group, on_groups
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes import OpGroupRemove

REMOVE = "remove the group from the configuration"


class LUGroupRemove(LogicalUnit[OpGroupRemove]):
    """Remove a group without nodes that is not the last one."""

    hook = Hook(
        "group-remove",
        HookObject.GROUP,
        pre=HookNodes.MASTER,
        post=HookNodes.MASTER,
        asked={"GROUP_NAME": "group_name"},
    )

    _group: NodeGroup
    _was_default: bool

    async def expand_names(self) -> None:
        """Which group."""
        self._group = await self.config.group(self.op.group_name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The group."""
        return on_groups(self._group.uuid) if level is Level.NODEGROUP else ()

    async def check(self) -> None:
        """It is empty, and others are left."""
        name = self._group.name
        if nodes := await nodes_of_group(self.config, self._group):
            names = ", ".join(node.name for node in nodes)
            raise OpPrereqError(f"Group '{name}' not empty, has the following nodes: {names}", ECode.STATE)
        if len(await self.config.groups()) == 1:
            raise OpPrereqError(f"Group '{name}' is the only group, cannot be removed", ECode.STATE)

        for told in left_by(name, self.context.group_scopes()):
            self.warn(told)
        self._was_default = (await self.config.cluster()).default_group == self._group.uuid

    def plan(self) -> Plan:
        """One change."""
        return [PlannedStep(REMOVE, (), described(self._group))]

    async def execute(self) -> None:
        """Remove it."""
        async with self.step(REMOVE):
            await self.config.remove_group(self._group.uuid)
        if self._was_default:
            after = await self.config.group((await self.config.cluster()).default_group)
            self.info(f"- INFO: node group {after.name} is the cluster's default group now")
