"""What is done to a new instance once it is in the configuration: its disks get in sync, it is installed or filled, and started."""

from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.errors import GanetiError, OpExecError
from ganeti_tx.logic.backup.importing import Filling
from ganeti_tx.logic.disks.on_nodes import assemble_elsewhere, disk_nodes, shutdown_disks, shutdowns
from ganeti_tx.logic.disks.sync import assemble_everywhere, tell_in_sync, wait_for_sync
from ganeti_tx.logic.image_run.installing import ImageInstall
from ganeti_tx.logic.instance.create_plan import CreatePlan
from ganeti_tx.logic.instance.presence import start, stop_again
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import InstanceOsAdd
from ganeti_tx.rpc.interfaces import RpcError

#: So often Ganeti looks at the disks of a new instance.
LOOKS = 2
SYNC, INSTALL, START = "wait until its disks are in sync", "run the OS create scripts", "start the instance"


@frozen
class SettingUp:
    """What one creation was asked for, on whose steps it runs; `data` brings what is on the disks, if it is not installed."""

    unit: LogicalUnit[OpInstanceCreate]
    plan: CreatePlan
    data: Filling | None
    #: Installs it, if no node may.
    image: ImageInstall | None = None

    def steps(self, target: InstanceView) -> Plan:
        """In order."""
        nodes, instance = disk_nodes(target), (f"instance {self.plan.name}",)
        steps: list[PlannedStep] = [PlannedStep(SYNC, nodes, instance)] if self._waits_for_sync else []
        if self.data is not None:
            steps += self.data.steps(target)
        elif self.image is not None:
            steps += self.image.steps()
        elif self.plan.install:
            steps.append(PlannedStep(INSTALL, nodes, instance))
        if self.plan.start:
            steps.append(PlannedStep(START, nodes, instance))
        return steps

    async def run(self, target: InstanceView) -> None:
        """Do it, on the instance as the configuration has it."""
        if self._waits_for_sync:
            await self._synchronise(target)
        elif self.unit.op.wait_for_sync and target.disks:
            for _ in range(LOOKS):
                tell_in_sync(self.plan.name, self.unit.info)
        if self.data is not None:
            spec = target.spec(osparams_secret=self.plan.osparams_secret)
            await self.data.run(target, spec, self._shutdowns(target), stay=self.plan.start)
        elif self.image is not None:
            await self.image.install(target.spec(osparams_secret=self.plan.osparams_secret))
            if not self.plan.start:
                await shutdown_disks(self.unit.nodes, target, self.unit.warn)
        elif self.plan.install:
            await self._install(target)
        if self.plan.start:
            await self._start(target)

    @property
    def _is_mirrored(self) -> bool:
        return TEMPLATES[self.plan.template].secondaries > 0

    @property
    def _waits_for_sync(self) -> bool:
        return self.unit.op.wait_for_sync and self._is_mirrored

    async def _synchronise(self, target: InstanceView) -> None:
        unit = self.unit
        async with unit.step(SYNC, *self._shutdowns(target)):
            await assemble_everywhere(unit.nodes, target, unit.warn)
            await wait_for_sync(unit.nodes, target, unit.info, unit.pause)
            if not (self.plan.install or self.plan.start):
                await shutdown_disks(unit.nodes, target, unit.warn)

    def _shutdowns(self, target: InstanceView) -> Sequence[Undo]:
        """Mirrors may stay ready on a node where nobody but their instance can take them down later; so that stays, too."""
        otherwise = (
            f"instance {self.plan.name} may have disks ready on a node, so it stays in the configuration; when the node can "
            f"be reached, remove it with 'gnt-instance remove {self.plan.name}'"
        )
        return shutdowns(target, otherwise=otherwise if self._is_mirrored else None)

    async def _install(self, target: InstanceView) -> None:
        unit = self.unit
        unit.info("* running the instance OS create scripts...")
        async with unit.step(INSTALL, *self._shutdowns(target)):
            await assemble_elsewhere(unit.nodes, target, unit.warn)
            try:
                spec = target.spec(osparams_secret=self.plan.osparams_secret)
                await unit.nodes.call(target.primary, InstanceOsAdd(instance=spec, debug=unit.op.debug_level or 0))
            except RpcError as error:
                reason = f"could not install OS {self.plan.os} on instance {self.plan.name}: {error}"
                raise OpExecError(reason) from None
            if not self.plan.start:
                await shutdown_disks(unit.nodes, target, unit.warn)

    async def _start(self, target: InstanceView) -> None:
        """A start that fails leaves the instance, with what is on its disks, to be started by hand."""
        unit, name, uuid = self.unit, self.plan.name, target.instance.uuid
        unit.info("* starting instance...")
        may_run = f"stays as it is; see 'gnt-instance info {name}' when the node can be reached"
        stop = stop_again(target, may_run)  # an answer that got lost may mean that it runs
        async with unit.step(START, stop):
            try:
                await start(unit.nodes, target, target.spec(), unit.warn)
                await unit.config.set_instance_state(uuid, AdminState.UP, AdminStateSource.ADMIN, True)
            except GanetiError as error:
                await unit.context.steps.settle(*shutdowns(target), stop)
                raise OpExecError(f"{error}; {self._left}") from None

    @property
    def _left(self) -> str:
        name = self.plan.name
        return (
            f"all else was done, so that it stays and is marked as down: start it with 'gnt-instance startup {name}'"
            f" or remove it with 'gnt-instance remove {name}'"
        )
