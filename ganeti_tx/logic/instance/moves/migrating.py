"""Live migration: the running instance goes to another node, memory and all. See doc/design/migration.rst."""

from typing import Any

from attrs import define, field
from twisted.internet.defer import CancelledError

from ganeti_tx.errors import GanetiError, OpExecError
from ganeti_tx.logic.instance.moves import mirror_roles
from ganeti_tx.logic.instance.moves.failing_over import back_in_config
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.instance.moves.transfer import Transfer
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.safe_points import SafePoints
from ganeti_tx.logic.steps import Steps
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.migration import Side
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.hotplug import InstanceBalloonMemory
from ganeti_tx.rpc.calls.migration import (
    AcceptInstance,
    InstanceFinalizeMigrationDst,
    InstanceFinalizeMigrationSrc,
    InstanceMigrationSide,
)
from ganeti_tx.rpc.interfaces import NodeCallError, RpcError

SHRINK, READY = "take memory from the instance", "make its disks ready on its new node"
ACCEPT, SEND, FINISH = "prepare its new node", "send the instance to its new node", "end the migration on both nodes"


@define
class Migrating:
    """One migration: the plan, then `run`.

    @ivar info: what the old node tells of the running instance.
    @ivar memory: MiB that it is to have, if that is less than it has (`memory_now`).
    """

    parts: Parts
    steps: Steps
    safe_points: SafePoints
    move: Move
    cluster_name: str
    live: bool
    info: dict[str, Any]
    memory_now: int
    memory: int | None = None
    _kill: Undo = field(init=False)

    def plan(self) -> Plan:
        """The memory only where it does not fit."""
        instance, both = (f"instance {self.move.name}",), self.move.nodes
        return [
            *([PlannedStep(SHRINK, both[:1], instance)] if self.memory is not None else ()),
            PlannedStep(READY, both, instance),
            PlannedStep(ACCEPT, both, instance),
            PlannedStep(SEND, both, instance),
            PlannedStep(FINISH, both, instance),
        ]

    async def run(self) -> None:
        """Do it. Until all memory has arrived the instance goes on where it was if something fails; then there is no way back."""
        self.parts.info(f"Migrating instance {self.move.name}")
        self.parts.info("* checking disk consistency between source and target")
        await self._shrink()
        async with self.parts.step(READY, *mirror_roles.back(self.move)):
            await mirror_roles.both_primary(self.parts, self.move)
        await self._accept()
        await self._send()
        await self._finish()

    async def _shrink(self) -> None:
        if self.memory is None:
            return
        spec, node = self.move.before.spec(), self.move.source
        self.parts.info(f"* memory of instance {self.move.name} is reduced to {self.memory} MiB")
        back = on_node("give back memory", node, InstanceBalloonMemory(instance=spec, memory=self.memory_now))
        async with self.parts.step(SHRINK, back):
            try:
                await self.parts.nodes.call(node, InstanceBalloonMemory(instance=spec, memory=self.memory))
            except RpcError as error:
                raise OpExecError(f"could not take memory from instance {self.move.name}: {error}") from None

    async def _accept(self) -> None:
        """From here on the undo asks the new node first: what has run there stays there, and in the configuration."""
        move = self.move
        self.parts.info(f"* preparing {move.target.name} to accept the instance")
        title = f"end the migration of instance {move.name}"
        self._kill = on_node(title, move.target, self._end_target(False), self._unknown)
        resume = on_node(f"let instance {move.name} go on", move.source, self._end_source(False, target_is_gone=True))
        async with self.parts.step(ACCEPT, resume, back_in_config(move), self._kill):
            call = AcceptInstance(instance=move.after.spec(), info=self.info, target=move.target.secondary_ip)
            try:
                await self.parts.nodes.call(move.target, call)
            except RpcError as error:
                raise OpExecError(f"node {move.target.name} cannot accept instance {move.name}: {error}") from None
            await self.parts.config.move_instance(move.instance.uuid, move.target.uuid)

    @property
    def _unknown(self) -> str:
        name, node = self.move.name, self.move.target.name
        return (
            f"instance {name} may run on node {node}, which therefore stays its primary node;"
            f" 'gnt-instance migrate --cleanup {name}' finds out"
        )

    async def _send(self) -> None:
        self.parts.info(f"* migrating instance to {self.move.target.name}")
        async with self.parts.step(SEND):
            try:
                await Transfer(self.parts, self.move, self.cluster_name, self.live).run()
            except (GanetiError, CancelledError):
                with self.safe_points.shield():
                    if not await self._has_arrived():
                        raise

    async def _has_arrived(self) -> bool:
        """Something went wrong: whether the instance is on its new node all the same; if not, what is said of it is as it was."""
        try:
            await self._call_source(False)
        except NodeCallError:  # it was sent in full, or is not there any more
            return await self._runs_there()
        except RpcError:
            return await self._refused_there()
        await self.parts.config.move_instance(self.move.instance.uuid, self.move.source.uuid)
        try:
            await self.parts.nodes.call(self.move.target, self._end_target(False))
        except RpcError as error:
            self.parts.warn(f"the migration could not be ended on node {self.move.target.name}: {error}")
        self.steps.nothing_to_undo(self._kill)
        return False

    async def _runs_there(self) -> bool:
        call = InstanceMigrationSide(instance_name=self.move.name, hypervisor=self.move.instance.hypervisor.value)
        try:
            return await self.parts.nodes.call(self.move.target, call) is Side.RUNS
        except RpcError:
            return False

    async def _refused_there(self) -> bool:
        """The old node does not answer: the new one ends what has not run yet."""
        try:
            await self.parts.nodes.call(self.move.target, self._end_target(False))
        except NodeCallError:
            return True
        except RpcError:
            pass
        return False

    async def _finish(self) -> None:
        """All memory is there. What is done here is done by whoever comes after, too, if this process dies."""
        move = self.move
        forward = [
            on_node(f"end the migration of instance {move.name}", move.source, self._end_source(True)),
            on_node(f"let instance {move.name} run", move.target, self._end_target(True), self._unknown),
        ]
        await self.steps.settle(*forward)  # in one go: between the two ways nobody would let it run anywhere
        async with self.parts.step(FINISH):
            with self.safe_points.shield():
                await self._end()
        self.parts.info("* done")

    async def _end(self) -> None:
        move = self.move
        try:
            await self.parts.nodes.call(move.target, self._end_target(True))
        except RpcError as error:
            raise OpExecError(
                f"instance {move.name} was sent to node {move.target.name}, but it is not known whether it runs there:"
                f" {error}; 'gnt-instance migrate --cleanup {move.name}' finds out"
            ) from None
        try:
            await self._call_source(True)
            await mirror_roles.one_primary(self.parts, move.before, move.source, move.target)
        except RpcError as error:
            raise OpExecError(
                f"instance {move.name} runs on node {move.target.name}, but something is left of it on node"
                f" {move.source.name}: {error}; 'gnt-instance migrate --cleanup {move.name}' removes that"
            ) from None

    async def _call_source(self, success: bool) -> None:
        await self.parts.nodes.call(self.move.source, self._end_source(success))

    def _end_source(self, success: bool, target_is_gone: bool = False) -> InstanceFinalizeMigrationSrc:
        spec = self.move.before.spec()
        return InstanceFinalizeMigrationSrc(
            instance=spec, success=success, live=self.live, target_is_gone=target_is_gone
        )

    def _end_target(self, success: bool) -> InstanceFinalizeMigrationDst:
        return InstanceFinalizeMigrationDst(instance=self.move.after.spec(), info={}, success=success)
