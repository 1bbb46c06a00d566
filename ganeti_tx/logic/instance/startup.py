"""Starting an instance."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.logic.disks.on_nodes import disk_nodes, shutdowns
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.presence import (
    HALTED,
    check_bridges,
    is_running,
    seen_before_start,
    start,
    state_as_before,
    stop,
    stop_again,
)
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import ask, check_free_memory, check_online
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.opcodes.instance_state import OpInstanceStartup
from ganeti_tx.model.params.backend import check_beparams, typed_beparams
from ganeti_tx.model.params.hypervisor import new_hvparams, typed_hvparams
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams

MARK, CLEAR, START = "mark the instance as up", "remove what is left of its last run", "start the instance"


class LUInstanceStartup(InstanceUnit[OpInstanceStartup]):
    """Start the instance on its primary node; extra parameters hold for this run only."""

    hook = Hook("instance-start", HookObject.INSTANCE, asked={"FORCE": "force"})

    _spec: InstanceSpec
    _runs: bool = False
    _left_over: bool = False

    async def check(self) -> None:
        """The parameters fit, the node is online and has room."""
        await super().check()
        self.refuse_offline_state()
        self._spec = self._with_extra_parameters()
        if self.target.primary.offline and self.op.ignore_offline_nodes:
            self.warn("Ignoring offline primary node")
            return
        check_online(self.target.primary, f"start instance {self.instance.name}")
        if self.op.hvparams:
            call = HypervisorValidateParams(hypervisor=self._spec.hypervisor, hvparams=self._spec.hvparams)
            await ask(self.nodes, self.target.primary, call)
        await check_bridges(self.nodes, self.target)
        await self._check_room()

    def _with_extra_parameters(self) -> InstanceSpec:
        try:
            # for one run those may be given, too, that instances have from the cluster only
            hvparams = new_hvparams(self.instance.hypervisor, self.op.hvparams, for_cluster=True)
            beparams = check_beparams(self.op.beparams)
            spec = self.target.spec(hvparams, beparams)
            typed_hvparams(self.instance.hypervisor, spec.hvparams)
            typed_beparams(spec.beparams)
        except GenericError as error:
            raise OpPrereqError(str(error), ECode.INVAL) from None
        return spec

    async def _check_room(self) -> None:
        seen = await seen_before_start(self.nodes, self.target)
        halted = seen is not None and seen.state == HALTED
        self._left_over = halted or (seen is not None and not is_running(seen))
        self._runs = is_running(seen) and not halted
        if not is_running(seen):
            purpose = f"starting instance {self.instance.name}"
            needed = int(self._spec.beparams["minmem"])
            await check_free_memory(self.nodes, self.target.primary, self._spec.hypervisor, needed, purpose)

    def plan(self) -> Plan:
        """The mark, then what is left over of an earlier run, then the instance."""
        instance, node = (f"instance {self.instance.name}",), (self.target.primary.name,)
        steps = [] if self.op.no_remember else [PlannedStep(MARK, (), instance)]
        if self.target.primary.offline:
            return steps
        if self._left_over:
            steps.append(PlannedStep(CLEAR, node, instance, self.op.shutdown_timeout))
        return [*steps, PlannedStep(START, disk_nodes(self.target), instance)]

    async def execute(self) -> None:
        """Say that it shall be up, then start it; when that fails the configuration says what it said before."""
        if not self.op.no_remember:
            async with self.step(MARK, state_as_before(self.instance)):
                await self.config.set_instance_state(self.instance.uuid, AdminState.UP, AdminStateSource.ADMIN, True)
        if self.target.primary.offline:
            self.info("- INFO: Primary node offline, marked instance as started")
            return
        if self._left_over:
            async with self.step(CLEAR):
                await stop(self.nodes, self.target, self.op.shutdown_timeout, self.warn)
        async with self.step(START, *self._undos()):
            await start(
                self.nodes,
                self.target,
                self._spec,
                self.warn,
                paused=bool(self.op.startup_paused),
                secondaries_needed=not self.op.force,
            )

    def _undos(self) -> Sequence[Undo]:
        """Nothing runs that is not marked as up; what was there before the start stays."""
        if self._runs:
            return ()
        down = () if self.instance.disks_active else shutdowns(self.target)
        otherwise = f"stays marked as up; see 'gnt-instance info {self.instance.name}' when the node can be reached"
        return (*down, stop_again(self.target, otherwise))
