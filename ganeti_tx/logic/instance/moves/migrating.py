"""Live migration: the running instance goes to another node, memory and all. See doc/design/migration.rst."""

from collections.abc import Sequence
from typing import Any

from attrs import define, field
from twisted.internet.defer import CancelledError

from ganeti_tx.errors import GanetiError, OpExecError
from ganeti_tx.logic.instance.moves import mirror_roles
from ganeti_tx.logic.instance.moves.failing_over import back_in_config
from ganeti_tx.logic.instance.moves.kept_idle import IdleKept
from ganeti_tx.logic.instance.moves.known_sides import KnownSides, wants_keys
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.instance.moves.transfer import Transfer
from ganeti_tx.logic.instance.presence import pass_on
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.safe_points import SafePoints
from ganeti_tx.logic.steps import Steps
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.migration import MigrationTls, Side
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
KEYS = "make keys by which both nodes know each other"
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
    _kept: IdleKept = field(init=False)
    _keys: KnownSides | None = field(default=None, init=False)
    #: By what the source, and the target, knows the other one.
    _tls: tuple[MigrationTls | None, MigrationTls | None] = field(default=(None, None), init=False)

    def __attrs_post_init__(self) -> None:
        self._kept = IdleKept(self.parts, self.move)

    def plan(self) -> Plan:
        """The memory only where it does not fit."""
        instance, both = (f"instance {self.move.name}",), self.move.nodes
        return [
            *([PlannedStep(SHRINK, both[:1], instance)] if self.memory is not None else ()),
            PlannedStep(READY, both, instance),
            *([PlannedStep(KEYS, both, instance)] if wants_keys(self.move) else ()),
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
        await self._make_keys()
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

    async def _make_keys(self) -> None:
        if not wants_keys(self.move):
            return
        self._keys = await KnownSides.named(self.parts, self.move)
        async with self.parts.step(KEYS, *self._keys.undos):
            self._tls = await self._keys.make()

    @property
    def _key_undos(self) -> Sequence[Undo]:
        """Both sides have read them when it is sent, so that they go first."""
        return self._keys.undos if self._keys is not None else ()

    async def _accept(self) -> None:
        """If something fails what waits there is ended even if it is silent: nothing was sent to it, so the instance goes on."""
        move = self.move
        self.parts.info(f"* preparing {move.target.name} to accept the instance")
        end = on_node(f"end what waits for instance {move.name}", move.target, self._end_target(False, True))
        resume = on_node(f"let instance {move.name} go on", move.source, self._end_source(False, target_is_gone=True))
        await self._wait_there(*self._kept.undos(), resume, end)

    async def _wait_there(self, *undos: Undo) -> None:
        """Have the target wait, and be the primary node."""
        async with self.parts.step(ACCEPT, *undos, back_in_config(self.move)):
            await self._call_accept()
            await self.parts.config.move_instance(self.move.instance.uuid, self.move.target.uuid)

    async def _call_accept(self) -> None:
        move = self.move
        await self._kept.carry()
        call = AcceptInstance(
            instance=move.after.spec(),
            info=self.info,
            target=move.target.secondary_ip,
            tls=self._tls[1],
            disks_come=move.copies,
            source=move.source.secondary_ip,
        )
        try:
            await self.parts.nodes.call(move.target, call)
        except RpcError as error:
            raise OpExecError(f"node {move.target.name} cannot accept instance {move.name}: {error}") from None

    @property
    def _unknown(self) -> str:
        name, node = self.move.name, self.move.target.name
        return (
            f"instance {name} may run on node {node}, which therefore stays its primary node;"
            f" '{self.move.clean_up}' finds out"
        )

    async def _send(self) -> None:
        """From here on the undo asks the new node first: what has run there stays there, and in the configuration."""
        move = self.move
        self.parts.info(f"* migrating instance to {move.target.name}")
        end = on_node(f"end the migration of instance {move.name}", move.target, self._end_target(False), self._unknown)
        for undo in self._key_undos:  # where they are now, none would be done once the machine has run there
            self.steps.nothing_to_undo(undo)
        async with self.parts.step(SEND, end, *self._key_undos):
            transfer = Transfer(self.parts, self.move, self.cluster_name, self.live, self._tls[0], self.info)
            try:
                await transfer.run()
            except (GanetiError, CancelledError) as error:
                with self.safe_points.shield():
                    if await self._has_arrived(end):
                        return
                    if why := await transfer.why_not_there():
                        raise OpExecError(f"{error}; {why}") from None
                raise

    async def _has_arrived(self, end: Undo) -> bool:
        """Something went wrong: whether the instance is on its new node all the same.

        @param end: the undo that is not done where the old node knows that it goes on there.
        """
        try:
            await self._call_source(False)
        except NodeCallError:  # it was sent in full, or is not there any more
            return await self._runs_there()
        except RpcError:
            return await self._refused_there()
        self.steps.nothing_to_undo(end)
        return False

    async def _runs_there(self) -> bool:
        try:
            return (
                await self.parts.nodes.call(self.move.target, InstanceMigrationSide.of(self.move.instance)) is Side.RUNS
            )
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
            *self._leavings(),
            *self._kept.leavings(),
            on_node(f"end the migration of instance {move.name}", move.source, self._end_source(True)),
            on_node(f"let instance {move.name} run", move.target, self._end_target(True), self._unknown),
            *self._key_undos,
        ]
        await self.steps.settle(*forward)  # in one go: between the two ways nobody would let it run anywhere
        async with self.parts.step(FINISH):
            with self.safe_points.shield():
                await self._end()
                await self._kept.leave()
                if self._keys is not None:
                    await self._keys.remove()
        self.parts.info("* done")

    def _leavings(self) -> Sequence[Undo]:
        """What goes from the source when the instance is not there any more."""
        return ()

    async def _end(self) -> None:
        move = self.move
        try:
            said = await self.parts.nodes.call(move.target, self._end_target(True))
        except RpcError as error:
            raise OpExecError(
                f"instance {move.name} was sent to node {move.target.name}, but it is not known whether it runs there:"
                f" {error}; '{move.clean_up}' finds out"
            ) from None
        pass_on(said, move.after, self.parts.warn)
        try:
            await self._call_source(True)
            await self._leave_disks()
        except RpcError as error:
            raise OpExecError(
                f"instance {move.name} runs on node {move.target.name}, but something is left of it on node"
                f" {move.source.name}: {error}; '{move.clean_up}' removes that"
            ) from None

    async def _leave_disks(self) -> None:
        await mirror_roles.one_primary(self.parts, self.move.before, self.move.source, self.move.target)

    async def _call_source(self, success: bool) -> None:
        await self.parts.nodes.call(self.move.source, self._end_source(success))

    def _end_source(self, success: bool, target_is_gone: bool = False) -> InstanceFinalizeMigrationSrc:
        spec = self.move.before.spec()
        return InstanceFinalizeMigrationSrc(
            instance=spec, success=success, live=self.live, target_is_gone=target_is_gone
        )

    def _end_target(self, success: bool, goes_on_elsewhere: bool = False) -> InstanceFinalizeMigrationDst:
        spec = self.move.after.spec()
        return InstanceFinalizeMigrationDst(
            instance=spec, info={}, success=success, goes_on_elsewhere=goes_on_elsewhere
        )
