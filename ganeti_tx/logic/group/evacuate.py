"""Moving all instances of a node group to other groups."""

from collections.abc import Mapping, Sequence

from ganeti_tx.allocator.requests import ChangeGroup
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.allocation import allocators
from ganeti_tx.logic.evacuation import EvacuationJobs, Jobs, by_failover, in_sequence
from ganeti_tx.logic.evacuation_unit import EvacuationUnit
from ganeti_tx.logic.group.on_group import listed, nodes_of_group
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.target_groups import fitting
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.group import OpGroupEvacuate
from ganeti_tx.model.opcodes.types import AllocatorMode


class LUGroupEvacuate(EvacuationUnit[OpGroupEvacuate]):
    """Submit the jobs that empty a group; where the instances go, an allocator finds."""

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
        await super().expand_names()

    async def concerned(self) -> list[InstanceView]:
        """All that have a node in it."""
        views = (await self.config.instance_views()).each()
        return [view for view in views if self._group.uuid in view.groups]

    async def groups(self) -> Sequence[str]:
        """All that are concerned."""
        return [group.uuid for group in (self._group, *self._targets)]

    async def check(self) -> None:
        """There is somewhere to go, and somebody to find where."""
        if not self._targets:
            raise OpPrereqError("There are no possible target groups", ECode.INVAL)
        await super().check()
        self._targets = fitting(self.views, self._targets)
        if self.views:
            allocators(self.op.iallocator, await self.config.cluster(), AllocatorMode.CHANGE_GROUP)

    async def hook_values(self) -> Mapping[str, object]:
        """The group, and where its instances may go."""
        targets = " ".join(group.name for group in self._targets)
        return {"GROUP_NAME": self._group.name, "TARGET_GROUPS": targets}

    async def object_nodes(self) -> Sequence[Node]:
        """The group's nodes."""
        return await nodes_of_group(self.config, self._group)

    async def jobs(self) -> Jobs:
        """As an allocator puts them; one after the other, and without live migration, where that was asked for."""
        targets = [group.uuid for group in self._targets]
        evacuation = EvacuationJobs(self, self.op.iallocator, targets, self.op.early_release, self.op.priority)
        names = [view.instance.name for view in self.views]
        jobs = await evacuation.find(self.views, ChangeGroup(instances=names, target_groups=targets))
        self.info(f"- INFO: Iallocator returned {len(jobs)} job(s) for evacuating node group {self._group.name}")
        jobs = by_failover(jobs) if self.op.force_failover else jobs
        return in_sequence(jobs) if self.op.sequential else jobs
