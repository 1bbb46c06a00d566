"""Restarting an instance."""

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.formats import check_images
from ganeti_tx.logic.disks.on_nodes import disk_nodes, shutdown_disks
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.presence import check_bridges, is_running, pass_on, seen_before_start, start, stop
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import ask, check_online
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.opcodes.instance_state import OpInstanceReboot
from ganeti_tx.model.opcodes.types import RebootType
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams
from ganeti_tx.rpc.calls.instance import InstanceReboot as RebootCall
from ganeti_tx.rpc.interfaces import PROMPT, RpcError

REBOOT, STOP, DISKS = "restart the instance", "stop the instance", "shut down its disks"
START, MARK = "start the instance", "mark the instance as up"


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
        """The instance is not offline, its node is online, has the bridges, and can read the disks."""
        await super().check()
        self.refuse_offline_state()
        check_online(self.target.primary, f"reboot instance {self.instance.name}")
        self._seen = await seen_before_start(self.nodes, self.target, PROMPT)
        await check_bridges(self.nodes, self.target)
        # of the other kinds the node does all, and has looked at all, with the disks ready, before it ends anything
        if self.op.reboot_type is RebootType.FULL:
            await ask(self.nodes, self.target.primary, HypervisorValidateParams.of(self.target.spec()))
            await check_images(self.nodes, self.target)

    @property
    def _stays(self) -> bool:
        """Whether the node restarts it, with its disks as they are."""
        return is_running(self._seen) and self.op.reboot_type is not RebootType.FULL

    def plan(self) -> Plan:
        """What the node does by itself, or each part of it; then the mark."""
        instance, node = (f"instance {self.instance.name}",), (self.target.primary.name,)
        nodes, limit = disk_nodes(self.target), self.op.shutdown_timeout
        mark = PlannedStep(MARK, (), instance)
        if self._stays:
            return [PlannedStep(REBOOT, node, instance, limit), mark]
        down = [PlannedStep(STOP, node, instance, limit), PlannedStep(DISKS, nodes, instance)]
        return [*(down if self._seen is not None else ()), PlannedStep(START, nodes, instance), mark]

    async def execute(self) -> None:
        """Restart, and say that it shall be up."""
        spec = self.target.spec()
        await (self._reboot(spec) if self._stays else self._stop_and_start(spec))
        async with self.step(MARK):
            await self.config.set_instance_state(self.instance.uuid, AdminState.UP, AdminStateSource.ADMIN, True)

    async def _reboot(self, spec: InstanceSpec) -> None:
        """The node does it."""
        call = RebootCall(
            instance=spec, reboot_type=self.op.reboot_type.value, shutdown_timeout=self.op.shutdown_timeout
        )
        async with self.step(REBOOT):
            try:
                said = await self.nodes.call(self.target.primary, call)
            except RpcError as error:
                raise OpExecError(f"could not reboot instance {self.instance.name}: {error}") from None
        pass_on(said, self.target, self.warn)

    async def _stop_and_start(self, spec: InstanceSpec) -> None:
        if self._seen is None:
            self.info(f"- INFO: Instance {self.instance.name} was already stopped, starting now")
        else:
            async with self.step(STOP):
                await stop(self.nodes, self.target, self.op.shutdown_timeout, self.warn)
            async with self.step(DISKS):
                await shutdown_disks(self.nodes, self.target, self.warn)
        async with self.step(START):
            needed = not self.op.ignore_secondaries
            await start(self.nodes, self.target, spec, self.warn, secondaries_needed=needed)
