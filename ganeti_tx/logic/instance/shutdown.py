"""Stopping an instance."""

from ganeti_tx.logic.disks.on_nodes import disk_nodes, shutdown_disks
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.presence import state_as_before, stop
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.opcodes.instance_state import OpInstanceShutdown

MARK, STOP, DISKS = "mark the instance as down", "stop the instance", "shut down its disks"


class LUInstanceShutdown(InstanceUnit[OpInstanceShutdown]):
    """Stop the instance and take its disks down; one that does not run is only marked."""

    hook = Hook("instance-stop", HookObject.INSTANCE, asked={"TIMEOUT": "timeout"})

    async def check(self) -> None:
        """The instance is not offline (unless forced), its node is online (unless that is ignored)."""
        await super().check()
        if self.op.force:
            self.warn("Ignoring offline instance check")
        else:
            self.refuse_offline_state()
        if self.target.primary.offline and self.op.ignore_offline_nodes:
            self.warn("Ignoring offline primary node")
        else:
            check_online(self.target.primary, f"shut down instance {self.instance.name}")

    def plan(self) -> Plan:
        """The mark, then the instance and its disks."""
        instance, node = (f"instance {self.instance.name}",), (self.target.primary.name,)
        steps = [PlannedStep(MARK, (), instance)] if self._marks else []
        if not self.target.primary.offline:
            steps.append(PlannedStep(STOP, node, instance, self.op.timeout))
            steps.append(PlannedStep(DISKS, disk_nodes(self.target), instance))
        return steps

    async def execute(self) -> None:
        """Say that it shall be down, then stop it; when that fails the configuration says what it said before."""
        if self._marks:
            await self._mark_down()
        if self.target.primary.offline:
            self.info("- INFO: Primary node offline, marked instance as stopped")
            return
        async with self.step(STOP):
            await stop(self.nodes, self.target, self.op.timeout, self.warn, self.op.force)
        await self.context.steps.settle()
        async with self.step(DISKS):
            await shutdown_disks(self.nodes, self.target, self.warn)

    @property
    def _marks(self) -> bool:
        """An instance that is offline stays so: down would say that it may be started."""
        return not (self.op.no_remember or self.instance.admin_state is AdminState.OFFLINE)

    async def _mark_down(self) -> None:
        source = self.op.admin_state_source or AdminStateSource.ADMIN
        async with self.step(MARK, state_as_before(self.instance)):
            await self.config.set_instance_state(self.instance.uuid, AdminState.DOWN, source, False)
