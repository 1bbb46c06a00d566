"""Checking the whole cluster, by jobs of its own."""

from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpClusterVerify, OpClusterVerifyConfig, OpClusterVerifyGroup
from ganeti_tx.model.opcodes.base import OpCode

SUBMIT = "submit the jobs that check the cluster"


class LUClusterVerify(LogicalUnit[OpClusterVerify]):
    """Submit the job that checks the configuration and one for each group; for one group that is named just its own."""

    def plan(self) -> Plan:
        """The submission."""
        return [PlannedStep(SUBMIT)]

    async def execute(self) -> dict[str, object]:
        """Their ids."""
        jobs = await self._jobs()
        async with self.step(SUBMIT):
            return {"jobs": await self.context.submit_jobs(jobs)}

    async def _jobs(self) -> list[list[OpCode]]:
        if self.op.group_name is not None:
            return [[self._of_group(self.op.group_name)]]
        groups = await self.config.groups()
        return [[self._of_configuration()], *([self._of_group(group.name)] for group in groups)]

    def _of_configuration(self) -> OpCode:
        op = self.op
        return OpClusterVerifyConfig(
            debug_simulate_errors=op.debug_simulate_errors,
            error_codes=op.error_codes,
            ignore_errors=op.ignore_errors,
            verbose=op.verbose,
            priority=op.priority,
        )

    def _of_group(self, name: str) -> OpCode:
        op = self.op
        return OpClusterVerifyGroup(
            group_name=name,
            debug_simulate_errors=op.debug_simulate_errors,
            error_codes=op.error_codes,
            skip_checks=op.skip_checks,
            ignore_errors=op.ignore_errors,
            verbose=op.verbose,
            verify_clutter=op.verify_clutter,
            priority=op.priority,
        )
