"""Looking for broken disks in the whole cluster, by jobs of its own."""

from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpClusterVerifyDisks, OpGroupVerifyDisks

SUBMIT = "submit the jobs that look for broken disks"


class LUClusterVerifyDisks(LogicalUnit[OpClusterVerifyDisks]):
    """Submit one job for each group, or for the one that is named."""

    _names: list[str]

    async def check(self) -> None:
        """A group that is named is there."""
        named = self.op.group_name
        groups = await self.config.groups() if named is None else [await self.config.group(named)]
        self._names = [group.name for group in groups]

    def plan(self) -> Plan:
        """The submission."""
        return [PlannedStep(SUBMIT)]

    async def execute(self) -> dict[str, object]:
        """Their ids."""
        jobs = [[OpGroupVerifyDisks(group_name=name, priority=self.op.priority)] for name in self._names]
        async with self.step(SUBMIT):
            return {"jobs": await self.context.submit_jobs(jobs)}
