"""Restarting an instance."""

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.on_nodes import shutdown_disks
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.presence import check_bridges, is_running, seen_running, start, stop
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.questions import check_online
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.opcodes.instance_state import OpInstanceReboot
from ganeti_tx.model.opcodes.types import RebootType
from ganeti_tx.rpc.calls.instance import InstanceReboot as RebootCall
from ganeti_tx.rpc.interfaces import RpcError


class LUInstanceReboot(InstanceUnit[OpInstanceReboot]):
    """Soft and hard restarts are the node's work; a full one takes the disks down in between. One that is down starts."""

    hook = Hook(
        "instance-reboot",
        HookObject.INSTANCE,
        asked={
            "IGNORE_SECONDARIES": "ignore_secondaries",
            "REBOOT_TYPE": "reboot_type",
            "SHUTDOWN_TIMEOUT": "shutdown_timeout",
        },
    )

    async def check(self) -> None:
        """The instance is not offline, its node is online and has the bridges."""
        await super().check()
        self.refuse_offline_state()
        check_online(self.target.primary, f"reboot instance {self.instance.name}")
        await check_bridges(self.nodes, self.target)

    async def execute(self) -> None:
        """Restart, and say that it shall be up."""
        seen = await seen_running(self.nodes, self.target)
        spec = self.target.spec()
        if is_running(seen) and self.op.reboot_type is not RebootType.FULL:
            await self._reboot(spec)
        else:
            await self._down(seen is not None)
            await start(self.nodes, self.target, spec, self.warn)
        await self.config.set_instance_state(self.instance.uuid, AdminState.UP, AdminStateSource.ADMIN, True)

    async def _reboot(self, spec: InstanceSpec) -> None:
        """The node does it."""
        call = RebootCall(
            instance=spec, reboot_type=self.op.reboot_type.value, shutdown_timeout=self.op.shutdown_timeout
        )
        try:
            await self.nodes.call(self.target.primary, call)
        except RpcError as error:
            raise OpExecError(f"could not reboot instance {self.instance.name}: {error}") from None

    async def _down(self, present: bool) -> None:
        if not present:
            self.info(f"Instance {self.instance.name} was already stopped, starting now")
            return
        await stop(self.nodes, self.target, self.op.shutdown_timeout)
        await shutdown_disks(self.nodes, self.target, self.warn)
