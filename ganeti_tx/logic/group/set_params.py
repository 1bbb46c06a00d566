"""Changing the settings of a node group."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.disks.exclusive import check_alike
from ganeti_tx.logic.group.on_group import described, on_groups
from ganeti_tx.logic.group.settings import with_settings
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.policy import warn_of_new_violations
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes import OpGroupSetParams

CHANGE = "change the group"


class LUGroupSetParams(LogicalUnit[OpGroupSetParams]):
    """Change a group. Instances that do not fit a new policy stay, and are told of."""

    hook = Hook(
        "group-modify",
        HookObject.GROUP,
        pre=HookNodes.MASTER,
        post=HookNodes.MASTER,
        asked={"NEW_ALLOC_POLICY": "alloc_policy"},
    )

    _group: NodeGroup
    _after: NodeGroup

    async def expand_names(self) -> None:
        """Which group."""
        self._group = await self.config.group(self.op.group_name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The group."""
        return on_groups(self._group.uuid) if level is Level.NODEGROUP else ()

    async def check(self) -> None:
        """Every setting is possible; to change nothing is possible, too."""
        self._group = await self.config.group(self._group.uuid)
        cluster = await self.config.cluster()
        self._after = with_settings(self._group, self.op, cluster)
        if is_exclusive(cluster, self._after) and not is_exclusive(cluster, self._group):
            await check_alike(self, cluster, self._after, await self.config.nodes())
        if self._after.ipolicy != self._group.ipolicy:
            warn_of_new_violations(await self._views(), self._with_group_changed, self.warn)

    async def hook_values(self) -> Mapping[str, object]:
        """The name, and what was asked for."""
        return {**await super().hook_values(), "GROUP_NAME": self._group.name}

    async def _views(self) -> list[InstanceView]:
        """The instances of the group."""
        views = (await self.config.instance_views()).each()
        return [view for view in views if view.group.uuid == self._group.uuid]

    def _with_group_changed(self, view: InstanceView) -> InstanceView:
        return replace(view, groups={**view.groups, self._after.uuid: self._after})

    def plan(self) -> Plan:
        """One change."""
        return [PlannedStep(CHANGE, (), described(self._group))]

    async def execute(self) -> list[tuple[str, object]]:
        """Gives the group's own parameters, where they were asked for (Ganeti tells of these two)."""
        async with self.step(CHANGE):
            await self.config.update_group(self._after)
        after = self._after
        told: dict[str, object] = {"ndparams": after.ndparams, "diskparams": after.diskparams}
        return [(name, value) for name, value in told.items() if getattr(self.op, name)]
