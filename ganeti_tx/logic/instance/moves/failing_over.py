"""Failing over: the instance is stopped where it is, and started on its new node."""

from attrs import define, field

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.disks.sync import assemble_everywhere
from ganeti_tx.logic.instance.moves import disks
from ganeti_tx.logic.instance.moves.checks import first_degraded
from ganeti_tx.logic.instance.moves.kept_state import KeptState
from ganeti_tx.logic.instance.moves.leaving import Leaving
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.instance.presence import mark_active, pass_on, state_as_before, stop_call
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.steps import Steps
from ganeti_tx.logic.undos import in_config, on_node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import InstanceStart
from ganeti_tx.rpc.interfaces import RpcError

LEAVE = "take its disks down on its old node"
RENAME, START = "change its primary node", "start the instance on its new node"
READY = "make its disks ready on its new node"


@define
class FailingOver:
    """One failover: `check`, then the plan, then `run`. A failure starts the instance on its old node again.

    @ivar active: whether its disks are ready now, so that they tell how they are.
    """

    parts: Parts
    move: Move
    shutdown_timeout: float
    ignore_consistency: bool
    steps: Steps
    active: bool
    _kept: KeptState = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._kept = KeptState(self.parts, self.move, self.ignore_consistency)

    async def check(self) -> None:
        """@raise OpPrereqError: the copies on the target are not whole, or it cannot take the instance (see `Leaving.check`)."""
        move = self.move
        looks = self._has_copies and not (self.ignore_consistency or move.source.offline)
        if looks and (fault := await first_degraded(self.parts.nodes, move)):
            raise OpPrereqError(
                f"{fault}; --ignore-consistency fails over all the same, and may lose data", ECode.STATE
            )
        await self._leaving.check()
        await self._kept.look()

    @property
    def _leaving(self) -> Leaving:
        return Leaving(self.parts, self.move, self.shutdown_timeout, self.ignore_consistency)

    @property
    def _has_copies(self) -> bool:
        return self.move.is_mirrored and self.active

    def plan(self) -> Plan:
        """Its old node does nothing when it is offline, its new one starts what shall be up."""
        move, instance = self.move, (f"instance {self.move.name}",)
        source, both = (move.source.name,), move.nodes
        away = [self._leaving.step(), PlannedStep(LEAVE, source, instance), *self._kept.first_steps()]
        steps = [*([] if move.source.offline else away), PlannedStep(RENAME, (), instance)]
        if move.is_up:
            steps.append(PlannedStep(START, both, instance))
        elif move.instance.disks_active:
            steps.append(PlannedStep(READY, both, instance))
        return [*steps, *self._kept.last_steps()]

    async def run(self) -> None:
        """Do it."""
        move = self.move
        self.parts.info(f"Failover instance {move.name}")
        consistency = "checking disk consistency between source and target"
        without = "not checking disk consistency as instance is not running"
        self.parts.info(f"* {consistency if move.instance.disks_active else without}")
        if move.source.offline:
            self._leaving.warn_of_offline()
        else:
            await self._leave()
        await self._kept.carry()
        async with self.parts.step(RENAME, back_in_config(move)):
            await self.parts.config.move_instance(move.instance.uuid, move.target.uuid)
        if move.is_up:
            await self._start()
        elif move.instance.disks_active:
            async with self.parts.step(READY, *disks.shutdowns_on_target(move)):
                await assemble_everywhere(self.parts.nodes, move.after, self.parts.warn)
        if self._kept.last_steps():
            await self.steps.settle()
            await self._kept.leave()

    async def _leave(self) -> None:
        """Stop it and take its disks down; what does not work is ignored when that was asked for."""
        move = self.move
        await self._leaving.stop()
        self.parts.info(f"* closing instance disks on node {move.source.name}")
        self.parts.info("* deactivating the instance's disks on source node")
        async with self.parts.step(LEAVE):
            try:
                await disks.leave(self.parts.nodes, move)
            except OpExecError as error:
                self._leaving.ignore(error, f"make sure that nothing uses them on node {move.source.name}")

    async def _start(self) -> None:
        move, name = self.move, self.move.name
        active = () if move.instance.disks_active else (state_as_before(move.instance),)
        self.parts.info(f"* activating the instance's disks on target node {move.target.name}")
        async with self.parts.step(START, *active, *disks.shutdowns_on_target(move), stop_on_target(move)):
            if active:
                await mark_active(self.parts.config, move.instance)
            await disks.follow(self.parts.nodes, move, self.parts.warn)
            self.parts.info(f"* starting the instance on the target node {move.target.name}")
            try:
                said = await self.parts.nodes.call(move.target, InstanceStart(instance=move.after.spec()))
            except RpcError as error:
                raise OpExecError(f"could not start instance {name} on node {move.target.name}: {error}") from None
        pass_on(said, move.after, self.parts.warn)


def back_in_config(move: Move) -> Undo:
    """What names the old node as the primary one again."""
    title = f"name node {move.source.name} as the primary node of instance {move.name} again"
    return in_config(title, IConfig.move_instance, move.instance.uuid, move.source.uuid)


def stop_on_target(move: Move) -> Undo:
    """What stops it there; when nobody knows whether it runs there, it must not be started elsewhere."""
    return on_node(
        f"stop instance {move.name}",
        move.target,
        stop_call(move.after, 0.0, force=True),
        otherwise=f"instance {move.name} may run on node {move.target.name}, which therefore stays its primary node;"
        f" 'gnt-instance failover --cleanup {move.name}' finds out",
    )
