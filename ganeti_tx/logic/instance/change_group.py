"""Bringing an instance to another node group."""

from collections.abc import Mapping, Sequence

from ganeti_tx.allocator.requests import ChangeGroup
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.allocation import allocators
from ganeti_tx.logic.evacuation import EvacuationJobs, Jobs
from ganeti_tx.logic.evacuation_unit import EvacuationUnit
from ganeti_tx.logic.group.on_group import listed
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.instance.hook_values import instance_values
from ganeti_tx.logic.instance.unit import refuse_forthcoming
from ganeti_tx.logic.target_groups import fitting
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.instance_place import OpInstanceChangeGroup
from ganeti_tx.model.opcodes.types import AllocatorMode


class LUInstanceChangeGroup(EvacuationUnit[OpInstanceChangeGroup]):
    """Submit the jobs that bring one instance to one of the groups named, or else to any other one."""

    hook = Hook("instance-change-group", HookObject.INSTANCE, pre=HookNodes.MASTER, post=HookNodes.MASTER)

    _named: Instance
    _targets: list[NodeGroup]

    async def expand_names(self) -> None:
        """The instance, and the groups."""
        self._named = await self.config.instance(self.op.instance_uuid or self.op.instance_name)
        await super().expand_names()
        await self._find_targets()

    async def _find_targets(self) -> None:
        own = self._view.groups.keys()
        named = await listed(self.config, self.op.target_groups or ())
        if there := [group.name for group in named if group.uuid in own]:
            raise OpPrereqError(
                f"Can't use group(s) {', '.join(there)} as targets, they are used by the instance"
                f" '{self._view.instance.name}'",
                ECode.INVAL,
            )
        self._targets = named or [group for group in await self.config.groups() if group.uuid not in own]

    @property
    def _view(self) -> InstanceView:
        return self.views[0]

    async def concerned(self) -> list[InstanceView]:
        """The one."""
        return [await self.config.instance_view(self._named.uuid)]

    async def groups(self) -> Sequence[str]:
        """Those that it is in, and those that it may come to."""
        return sorted({*self._view.groups, *(group.uuid for group in self._targets)})

    async def check(self) -> None:
        """It is still in none of the groups that it is to come to, of which there is one; and somebody finds where."""
        await super().check()
        refuse_forthcoming(self._view.instance)
        await self._find_targets()
        if not self._targets:
            raise OpPrereqError("There are no possible target groups", ECode.INVAL)
        self._targets = fitting(self.views, self._targets)
        allocators(self.op.iallocator, await self.config.cluster(), AllocatorMode.CHANGE_GROUP)

    async def hook_values(self) -> Mapping[str, object]:
        """The instance, and where it may go."""
        targets = " ".join(group.uuid for group in self._targets)
        return {**await super().hook_values(), **instance_values(self._view), "TARGET_GROUPS": targets}

    async def read_again(self) -> None:
        """The instance as it is now."""
        self.views = await self.concerned()

    async def jobs(self) -> Jobs:
        """As an allocator puts them."""
        targets, name = [group.uuid for group in self._targets], self._view.instance.name
        evacuation = EvacuationJobs(self, self.op.iallocator, targets, self.op.early_release, self.op.priority)
        jobs = await evacuation.find(self.views, ChangeGroup(instances=[name], target_groups=targets))
        self.info(f"- INFO: Iallocator returned {len(jobs)} job(s) for changing group of instance '{name}'")
        return jobs
