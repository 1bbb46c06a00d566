"""Checking the whole cluster, by jobs of its own."""

from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpClusterVerify, OpClusterVerifyConfig

SUBMIT = "submit the jobs that check the cluster"


class LUClusterVerify(LogicalUnit[OpClusterVerify]):
    """Submit the jobs that check the cluster: so far the one that checks its configuration."""

    def plan(self) -> Plan:
        """The submission."""
        return [PlannedStep(SUBMIT)]

    async def execute(self) -> dict[str, object]:
        """Their ids."""
        op = self.op
        config = OpClusterVerifyConfig(
            debug_simulate_errors=op.debug_simulate_errors,
            error_codes=op.error_codes,
            ignore_errors=op.ignore_errors,
            verbose=op.verbose,
        )
        self.info("* Instances and disks are not checked in this version; the configuration and its copies are")
        async with self.step(SUBMIT):
            return {"jobs": await self.context.submit_jobs([[config]])}
