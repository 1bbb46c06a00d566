"""Stopping an instance."""

from ganeti_tx.logic.disks.on_nodes import shutdown_disks
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.presence import stop
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.rollback import Rollback
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.opcodes.instance_state import OpInstanceShutdown


class LUInstanceShutdown(InstanceUnit[OpInstanceShutdown]):
    """Stop the instance and take its disks down; one that does not run is only marked."""

    hook = Hook("instance-stop", HookObject.INSTANCE, asked={"TIMEOUT": "timeout"})

    async def check(self) -> None:
        """The instance is not offline (unless forced), its node is online (unless that is ignored)."""
        await super().check()
        if not self.op.force:
            self.refuse_offline_state()
        if self.target.primary.offline and self.op.ignore_offline_nodes:
            self.warn("ignoring the offline primary node")
        else:
            check_online(self.target.primary, f"shut down instance {self.instance.name}")

    async def execute(self) -> None:
        """Say that it shall be down, then stop it; when that fails the configuration says what it said before."""
        async with self.rollback() as rollback:
            await self._mark_down(rollback)
            if self.target.primary.offline:
                self.warn("primary node offline, marked instance as stopped")
                return
            await stop(self.nodes, self.target, self.op.timeout, self.op.force)
        await shutdown_disks(self.nodes, self.target, self.warn)

    async def _mark_down(self, rollback: Rollback) -> None:
        """An instance that is offline stays so: down would say that it may be started."""
        before = self.instance
        if self.op.no_remember or before.admin_state is AdminState.OFFLINE:
            return
        source = self.op.admin_state_source or AdminStateSource.ADMIN
        await self.config.set_instance_state(before.uuid, AdminState.DOWN, source, False)
        rollback.undo(
            self.config.set_instance_state,
            before.uuid,
            before.admin_state,
            before.admin_state_source,
            before.disks_active,
        )
