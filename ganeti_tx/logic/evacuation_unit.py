"""What the units have in common that have instances moved away by jobs of their own."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.logic.evacuation import Jobs
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_allocation, on_instance, on_nodes
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.group import OpGroupEvacuate
from ganeti_tx.model.opcodes.instance_place import OpInstanceChangeGroup
from ganeti_tx.model.opcodes.node import OpNodeEvacuate

SUBMIT = "submit the jobs that move the instances"

EvacuationOp = TypeVar("EvacuationOp", bound=OpGroupEvacuate | OpInstanceChangeGroup | OpNodeEvacuate)


class EvacuationUnit(LogicalUnit[EvacuationOp]):
    """Holds the instances and all groups with their nodes, shared, while an allocator looks; the jobs lock for themselves.

    Each unit says which instances are concerned, in which groups, and what their jobs are.
    """

    #: Those that are to be moved, as `expand_names` found them, then as `check` did.
    views: list[InstanceView]

    async def expand_names(self) -> None:
        """Which instances."""
        self.views = await self.concerned()

    @abstractmethod
    async def concerned(self) -> list[InstanceView]:
        """The instances that are to be moved, as they are now."""

    @abstractmethod
    async def groups(self) -> Sequence[str]:
        """The uuids of the groups in which they are, or to which they may come."""

    @abstractmethod
    async def jobs(self) -> Jobs:
        """The jobs that move them, of which there is at least one. @raise OpExecError: it cannot be done."""

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """What an allocator is told of them stays true meanwhile."""
        match level:
            case Level.INSTANCE:
                return [on_instance(view.instance.name, Mode.SHARED) for view in self.views]
            case Level.NODE_ALLOC:
                return [on_allocation()]
            case Level.NODEGROUP:
                return [LockRequest(Lock(level, uuid), Mode.SHARED) for uuid in sorted(await self.groups())]
            case Level.NODE:
                groups = await self.groups()
                return on_nodes((node.uuid for node in await self.config.nodes() if node.group in groups), Mode.SHARED)
        return ()

    async def check(self) -> None:
        """They are the same ones."""
        before = {view.instance.name for view in self.views}
        self.views = await self.concerned()
        if changed := before ^ {view.instance.name for view in self.views}:
            raise OpPrereqError(
                f"the instances to be moved have changed meanwhile: {', '.join(sorted(changed))}; try again",
                ECode.STATE,
            )

    def plan(self) -> Plan:
        """The submission; what the jobs do, each of them tells."""
        if not self.views:
            return ()
        return [PlannedStep(SUBMIT, (), tuple(f"instance {view.instance.name}" for view in self.views))]

    async def execute(self) -> dict[str, Any]:
        """Gives the jobs."""
        if not self.views:
            return {"jobs": []}
        jobs = await self.jobs()
        async with self.step(SUBMIT):
            return {"jobs": await self.context.submit_jobs(jobs)}
