"""Taking the disks of an instance down."""

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.disks.on_nodes import disk_nodes, shutdown_disks
from ganeti_tx.logic.instance.presence import is_running, seen_running, state_as_before
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.opcodes.instance_disks import OpInstanceDeactivateDisks

MARK, DOWN = "mark its disks as inactive", "take its disks down"


class LUInstanceDeactivateDisks(InstanceUnit[OpInstanceDeactivateDisks]):
    """Take the disks down; with force also those of an instance that runs, as far as they are not open."""

    changes_room = False

    async def check(self) -> None:
        """The instance does not run, unless that does not matter."""
        await super().check()
        if self.op.force:
            return
        if self.instance.admin_state is AdminState.UP:
            raise OpPrereqError(
                f"Instance '{self.instance.name}' is marked to be up, cannot shutdown disks", ECode.STATE
            )
        if is_running(await seen_running(self.nodes, self.target)):
            raise OpPrereqError(f"Instance '{self.instance.name}' is running, cannot shutdown disks", ECode.STATE)

    def plan(self) -> Plan:
        """The mark first: from then on nobody makes them ready again."""
        instance = (f"instance {self.instance.name}",)
        steps = [PlannedStep(MARK, (), instance)] if self.instance.disks_active else []
        return [*steps, PlannedStep(DOWN, disk_nodes(self.target), instance)]

    async def execute(self) -> None:
        """Disks that stay up are marked as active again, unless that was to be expected."""
        instance = self.instance
        if instance.disks_active:
            async with self.step(MARK, state_as_before(instance)):
                state, source = instance.admin_state, instance.admin_state_source
                await self.config.set_instance_state(instance.uuid, state, source, False)
        async with self.step(DOWN):
            if not await shutdown_disks(self.nodes, self.target, self.warn) and not self.op.force:
                raise OpExecError(
                    f"some disks of instance {instance.name} are still ready; when that is mended, deactivate them again"
                )
