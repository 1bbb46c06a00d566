"""Failing over to a node that has no copy: it makes a new pair with one of the old nodes (design-2.0, Failover to any node).

Until the new pair is recorded everything is taken back; from then on it stays, as the instance may have written to it. The
data on the node that leaves is removed when the new pair is in sync, and never before. See doc/design/failover-to-any-node.rst.
"""

from collections.abc import Iterator, Sequence

from attrs import define, field
from twisted.internet.defer import CancelledError

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic import left_volumes
from ganeti_tx.logic.disks.apart import split_disks, why_degraded
from ganeti_tx.logic.disks.health import named, states_on
from ganeti_tx.logic.disks.new_end import assemble, clear, create, place, placing, tell
from ganeti_tx.logic.disks.new_secondary import CLEAR, CREATE
from ganeti_tx.logic.disks.on_nodes import shutdown_disks, shutdowns
from ganeti_tx.logic.disks.replacing import DOWN, READY, REMOVE, SYNC, Replacing
from ganeti_tx.logic.disks.sync import wait_for_sync
from ganeti_tx.logic.instance.moves.disks import specs_on
from ganeti_tx.logic.instance.moves.kept import check_third
from ganeti_tx.logic.instance.moves.kept_state import KeptState
from ganeti_tx.logic.instance.moves.leaving import Leaving
from ganeti_tx.logic.instance.presence import pass_on
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.mirror_state import SPLIT_BRAIN
from ganeti_tx.model.node import Node
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevShutdown
from ganeti_tx.rpc.calls.instance import InstanceStart
from ganeti_tx.rpc.interfaces import RpcError

LEAVE = "take its disks down on its old nodes"
PAIR, RECORD = "connect its new node to the one that keeps its copy", "record its new nodes"
START, OPEN = "start the instance on its new node", "let its new node write to its disks"
#: Seconds between two looks; looks until two sides have found out which of them is newer, and until one is being filled.
INTERVAL = 1.0
SETTLING, BEGINNING = 10, 60


@define
class NewPair:
    """One such failover: `check`, then the plan, then `run`.

    @ivar common: all its disks. @ivar kept: which of its nodes keeps its copy, as the secondary one.
    @ivar waits: whether the instance is started when its new node has all the data, instead of as soon as that is filled.
    """

    common: Replacing
    leaving: Leaving
    kept: Node
    waits: bool
    _carried: KeptState = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._carried = KeptState(self.common.parts, self.leaving.move, self.leaving.ignore_consistency)

    @property
    def _before(self) -> InstanceView:
        return self.leaving.move.before

    @property
    def _after(self) -> InstanceView:
        return self.leaving.move.after

    @property
    def _new(self) -> Node:
        return self._after.primary

    @property
    def _left(self) -> Node:
        """The node whose copy goes."""
        return next(node for node in self._before.nodes.values() if self._is_old(node) and node.uuid != self.kept.uuid)

    def _is_old(self, node: Node) -> bool:
        return any(node.uuid in disk.nodes for disk in self._before.disks)

    @property
    def _keeps_primary(self) -> bool:
        return self.kept.uuid == self._before.primary.uuid

    @property
    def _late(self) -> bool:
        """Whether it waits before anything is recorded; what is not to run is in no hurry."""
        return self.waits or not self.leaving.move.is_up

    @property
    def _reachable(self) -> list[Node]:
        """Of the old nodes, the primary one first."""
        secondary = self._left if self._keeps_primary else self.kept
        return [node for node in (self._before.primary, secondary) if not node.offline]

    async def check(self) -> None:
        """@raise OpPrereqError: the node that stays has no good data, or the new one cannot have the instance."""
        await check_third(self.common.parts, self._before, self._new, self.kept)
        if self.common.active and not self._before.primary.offline and (fault := await self._fault()):
            raise OpPrereqError(fault, ECode.STATE)
        if split := await split_disks(self.common.parts.nodes, self._before) if self.common.active else []:
            self.common.parts.warn(
                f"{named(split)} of instance {self.common.name}: {SPLIT_BRAIN}; those of node {self._left.name} are lost"
            )
        await self.leaving.check()
        await self._carried.look()

    async def _fault(self) -> str | None:
        """Why the new node cannot be filled from the one that keeps its copy, which is up."""
        states = await states_on(self.common.parts.nodes, self._before, self.kept, self.common.indices)
        found = [(index, state.status) for index, state in zip(self.common.indices, states, strict=True)]
        name, node = self.common.name, self.kept.name
        if bad := [index for index, status in found if status is None or status.ldisk_status is not LocalDiskStatus.OK]:
            return (
                f"{named(bad)} of instance {name} is not consistent on node {node}, from which its new node would be"
                " filled; 'gnt-instance activate-disks' may mend it"
            )
        apart = [index for index, status in found if status is not None and status.is_degraded]
        if apart and not (self._keeps_primary or self._before.primary.offline or self.leaving.ignore_consistency):
            why = await why_degraded(self.common.parts.nodes, self._before, self.kept, apart[0])
            return (
                f"{named(apart)} of instance {name} is degraded on node {node}{why and f' ({why})'}; --ignore-consistency"
                " fails over all the same, and may lose data"
            )
        return None

    def plan(self) -> Plan:
        """What is prepared while the instance runs; the new pair; then the end of the copy that leaves."""
        return list(self._steps())

    def _steps(self) -> Iterator[PlannedStep]:
        objects, instance, there = self.common.objects, (f"instance {self.common.name}",), (self._new.name,)
        old, pair = tuple(node.name for node in self._reachable), (self._new.name, self.kept.name)
        sync = PlannedStep(SYNC, pair, objects)
        if self._looks_first:
            yield PlannedStep(READY, old, objects)
        yield PlannedStep(CLEAR, there, objects)
        yield PlannedStep(CREATE, there, objects)
        if not self._before.primary.offline:
            yield self.leaving.step()
        yield from self._carried.first_steps()
        yield PlannedStep(LEAVE, old, objects)
        yield PlannedStep(PAIR, pair, objects)
        if self._late:
            yield sync
        yield PlannedStep(RECORD, (), instance)
        if self.leaving.move.is_up:
            yield PlannedStep(START, there, instance)
        elif self.common.active:
            yield PlannedStep(OPEN, there, objects)
        if not self._late:
            yield sync
        yield PlannedStep(REMOVE, (self._left.name,), objects)
        if not self.common.active:
            yield PlannedStep(DOWN, pair, objects)
        yield from self._carried.last_steps()

    @property
    def _looks_first(self) -> bool:
        """Whether both copies are compared, as disks of what is down say nothing about who is newer."""
        return not self.common.active and not self._left.offline

    async def run(self) -> None:
        """Do it."""
        parts = self.common.parts
        parts.info(f"Failover instance {self.common.name}")
        if self._looks_first:
            await self._compare()
        await self._make()
        if self._before.primary.offline:
            self.leaving.warn_of_offline()
        else:
            await self.leaving.stop()
        await self._carried.carry()
        await self._leave()
        await self._pair()
        if self._late:
            async with parts.step(SYNC):
                await self._wait()
        async with parts.step(RECORD, placing(f"record the former nodes of instance {self.common.name}", self._before)):
            await place(parts.config, self._after)
        await self._settled()

    async def _compare(self) -> None:
        """Have both sides find out which is newer."""
        async with self.common.parts.step(READY, *shutdowns(self._before)):
            try:
                await assemble(self.common.parts, self._before, self._left)
            except OpExecError as error:
                self.leaving.ignore(error, f"what is newer on node {self._left.name} is lost")
            await assemble(self.common.parts, self._before, self.kept)
            for _ in range(SETTLING):
                states = await states_on(self.common.parts.nodes, self._before, self.kept, self.common.indices)
                known = [state.status for state in states if state.status is not None]
                if not any(status.is_degraded and status.sync_percent is None for status in known):
                    break
                await self.common.parts.pause(INTERVAL)
            if fault := await self._fault():
                raise OpExecError(fault)

    async def _make(self) -> None:
        """The instance runs meanwhile."""
        parts, specs = self.common.parts, self._after.disk_specs(self._new)
        async with parts.step(CLEAR):
            await clear(parts, self._after, self._new)
        async with parts.step(CREATE, *(self.common.removal(self._new, spec) for spec in specs)):
            await create(parts, self._after, self._new)

    async def _leave(self) -> None:
        """Take the old pair down. What the node that keeps its copy has must still be good."""
        parts = self.common.parts
        parts.info(f"* deactivating the instance's disks on {', '.join(node.name for node in self._reachable)}")
        async with parts.step(LEAVE, *self._up_again()):
            if self.common.active and not self._before.primary.offline and (fault := await self._fault()):
                raise OpExecError(fault)
            for node in self._reachable:
                try:
                    await self._take_down(self._before, node)
                except OpExecError as error:
                    if node.uuid == self.kept.uuid:
                        raise
                    self._left_up(node, error)

    def _left_up(self, node: Node, error: OpExecError) -> None:
        """The former secondary node cannot have written anything."""
        advice = f"make sure that nothing uses them on node {node.name}"
        if self._keeps_primary:
            self.common.parts.warn(f"{error}; proceeding anyway: {advice}")
        else:
            self.leaving.ignore(error, advice)

    async def _take_down(self, view: InstanceView, node: Node) -> None:
        for spec in specs_on(view, node):
            await tell(self.common.parts, view, node, BlockdevShutdown(disk=spec, owner=self.common.name))

    def _up_again(self) -> Iterator[Undo]:
        """The secondary side first, which is the last undo."""
        instance = self._before.instance
        for node in self._reachable if self.common.active else ():
            for spec in self._before.disk_specs(node):
                call = BlockdevAssemble(
                    disk=spec,
                    owner=instance.name,
                    hypervisor=instance.hypervisor.value,
                    on_primary=node.uuid == instance.primary_node,
                )
                yield on_node(f"make disk/{spec.index} of instance {instance.name} ready", node, call)

    async def _pair(self) -> None:
        parts, pair = self.common.parts, (self.kept, self._new)
        parts.info(f"* connecting the disks on node {self._new.name} to those on node {self.kept.name}")
        downs = [undo for node in pair for undo in self._downs(self._after, node)]
        async with parts.step(PAIR, *downs):
            await assemble(parts, self._after, self.kept)
            states = await states_on(parts.nodes, self._after, self.kept, self.common.indices)
            for index, state in zip(self.common.indices, states, strict=True):
                if state.status is None or state.status.ldisk_status is not LocalDiskStatus.OK:
                    raise OpExecError(
                        f"disk/{index} of instance {self.common.name} is not consistent on node {self.kept.name}, from"
                        " which its new node would be filled"
                    )
            await assemble(parts, self._after, self._new)
            await self._begun()

    def _downs(self, view: InstanceView, node: Node, rest: str = "") -> Iterator[Undo]:
        for spec in specs_on(view, node):
            title = f"shut down disk/{spec.index} of instance {self.common.name}{rest}"
            yield on_node(title, node, BlockdevShutdown(disk=spec, owner=self.common.name))

    async def _begun(self) -> None:
        """@raise OpExecError: the new node is not being filled."""
        for _ in range(BEGINNING):
            states = await states_on(self.common.parts.nodes, self._after, self._new, self.common.indices)
            found = [state.status.ldisk_status for state in states if state.status is not None]
            if len(found) == len(states) and set(found) <= {LocalDiskStatus.SYNC, LocalDiskStatus.OK}:
                return
            await self.common.parts.pause(INTERVAL)
        raise OpExecError(
            f"the disks of instance {self.common.name} on node {self._new.name} are not filled from node"
            f" {self.kept.name} after {BEGINNING * INTERVAL:g} s"
        )

    async def _wait(self) -> None:
        parts = self.common.parts
        await wait_for_sync(parts.nodes, self._after, parts.info, parts.pause)

    async def _settled(self) -> None:
        """There is no way back any more: the instance is started there, and the old copy goes when nobody needs it."""
        steps = self.common.context.steps
        await steps.settle(*(self._end() if self._late else self._stays()))
        failed = await self._start() if self.leaving.move.is_up else None
        if self.common.active and not self.leaving.move.is_up:
            await self._open()
        if not self._late:
            await self._fill()
            await steps.settle(*self._end())
        await self.common.remove_old(self._left, self._before.disk_specs(self._left))
        if not self.common.active:
            async with self.common.parts.step(DOWN):
                await shutdown_disks(self.common.parts.nodes, self._after, self.common.parts.warn)
        await self._carried.leave()
        if failed is not None:
            raise failed

    def _end(self) -> Sequence[Undo]:
        """What is done in any case when the new pair is in sync."""
        removals = [self.common.removal(self._left, spec) for spec in self._before.disk_specs(self._left)]
        return [*([] if self.common.active else shutdowns(self._after)), *removals]

    async def _start(self) -> OpExecError | None:
        """Why it could not be started; that is told when all else has been done."""
        parts, node = self.common.parts, self._new
        parts.info(f"* starting the instance on the target node {node.name}")
        async with parts.step(START):
            try:
                said = await parts.nodes.call(node, InstanceStart(instance=self._after.spec()))
            except RpcError as error:
                failed = OpExecError(
                    f"could not start instance {self.common.name} on node {node.name}, which is its primary node now:"
                    f" {error}; 'gnt-instance startup {self.common.name}' tries it again"
                )
                parts.warn(str(failed))
                return failed
        pass_on(said, self._after, parts.warn)
        return None

    async def _open(self) -> None:
        instance = self._after.instance
        async with self.common.parts.step(OPEN):
            for spec in self._after.disk_specs():
                call = BlockdevAssemble(disk=spec, owner=instance.name, hypervisor=instance.hypervisor.value)
                await tell(self.common.parts, self._after, self._new, call)

    def _stays(self) -> Sequence[Undo]:
        """What is done, and told, when the job is ended before the new pair is in sync: nobody knows what becomes of that."""
        return [] if self._left.offline else list(self._downs(self._before, self._left, rest=", whose data stay,"))

    async def _fill(self) -> None:
        async with self.common.parts.step(SYNC):
            try:
                await self._wait()
            except (OpExecError, CancelledError):
                self.common.parts.warn(
                    f"the copies on node {self._new.name} are not whole, so the old ones of {self.common.objects[0]} stay on"
                    f" node {self._left.name}; {self._removed_by_hand()}"
                )
                raise

    def _removed_by_hand(self) -> str:
        """How to get rid of the old copy, unless its node has another one under the same names by then."""
        left = self._before.disk_specs(self._left)
        parts = [undo for spec in left for undo in self.common.leftover(self._left, spec)]
        (command,) = (command for _, command in left_volumes.commands(parts))
        return f"as long as 'gnt-cluster verify' names them as unknown, '{command}' removes them"
