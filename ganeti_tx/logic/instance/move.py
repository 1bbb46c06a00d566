"""Moving an instance with its disks to another node."""

from collections.abc import Mapping, Sequence

import attrs
from msgspec.structs import replace

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.disks.carrying import Carrying
from ganeti_tx.logic.disks.compression import check_compression
from ganeti_tx.logic.disks.ends import RECEIVING, SENDING, DiskEnd
from ganeti_tx.logic.disks.exclusive import check_wanted, with_spindles
from ganeti_tx.logic.disks.make import create_disks, creations, removal
from ganeti_tx.logic.disks.on_nodes import remove_disks, shutdown_disks
from ganeti_tx.logic.disks.room import check_disk_room
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.moves.checks import check_networks, check_no_others
from ganeti_tx.logic.instance.moves.kept_state import KeptState
from ganeti_tx.logic.instance.moves.move import Move, carried, placed, places
from ganeti_tx.logic.instance.presence import check_bridges, start, stop, stop_again
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.instance.user_down import UserDown, seen_if_told
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.policy import check_move
from ganeti_tx.logic.questions import ask, check_free_memory, check_online, check_takes_instances
from ganeti_tx.logic.ratios import warn_of_ratios
from ganeti_tx.logic.undos import in_config, on_node
from ganeti_tx.logic.wanted_locks import on_allocation, on_nodes
from ganeti_tx.model.disk_template import Mirrored
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_place import OpInstanceMove
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams, InstanceStart

STOP, COPY = "stop the instance on its old node", "copy its disks to its new node"
PLACE, REMOVE = "change its primary node", "remove its disks on its old node"
START = "start the instance on its new node"


class LUInstanceMove(InstanceUnit[OpInstanceMove]):
    """Stop it, copy its disks, and start it on its new node; until the copies are whole, a failure starts it where it was."""

    hook = Hook("instance-move", HookObject.INSTANCE, asked={"SHUTDOWN_TIMEOUT": "shutdown_timeout"})

    _node: Node
    _user_down: UserDown
    _move: Move
    _kept: KeptState

    async def expand_names(self) -> None:
        """Which instance, and where to."""
        await super().expand_names()
        self._node = await self.config.node(self.op.target_node_uuid or self.op.target_node)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The instance; then both nodes."""
        if level is Level.INSTANCE:
            return await super().locks_at(level)
        if level is Level.NODE_ALLOC:
            return [on_allocation()]
        both = [self._named.primary_node, self._node.uuid]
        return on_nodes(both, Mode.SHARED) if level is Level.NODE else ()

    async def check(self) -> None:
        """Its disks can be copied, and the node may have it, and has what it needs."""
        await super().check()
        node = await self.config.node(self._node.uuid)
        if node.uuid == self.target.primary.uuid:
            raise OpPrereqError(f"Instance {self.instance.name} is already on the node {node.name}", ECode.STATE)
        check_online(self.target.primary, f"copy the disks of instance {self.instance.name}")
        seen = await seen_if_told(self.nodes, self.target)
        self._user_down = UserDown.of(self, self.context.steps, self.target, seen)
        self.target = self._user_down.after
        self._move = Move(self.target, carried(placed(self.target, node, await self.config.group(node.group))))
        self._check_disks()
        check_compression(self.op.compress, self.target.cluster)
        check_takes_instances(node)
        await check_no_others(self.nodes, self._move)
        check_move(self.target, self._move.after.group, ignored=self.op.ignore_ipolicy, warn=self.warn)
        check_networks(self._move)
        await check_bridges(self.nodes, self._move.after)
        cluster = self.target.cluster
        self._check_exclusive()
        self._kept = KeptState(self, self._move, self.op.ignore_consistency)
        await self._kept.look()
        wanted = [(disk, disk.size) for disk in self.target.disks]
        await check_disk_room(
            self.nodes, cluster, [node], wanted, exclusive=is_exclusive(cluster, self._move.after.group)
        )
        await self._check_memory()
        await warn_of_ratios(self, self._move.after, ignored=self.op.ignore_ipolicy)

    def _check_exclusive(self) -> None:
        """The disks leave their number of physical volumes behind where these are no disk's own."""
        after = self._move.after
        if not is_exclusive(after.cluster, after.group):
            after = replace(after, disks=tuple(replace(disk, spindles=None) for disk in after.disks))
            self._move = attrs.evolve(self._move, after=after)
        check_wanted(after.cluster, after.group, [after.disk_template], [disk.spindles for disk in after.disks])

    def _check_disks(self) -> None:
        for index, disk in enumerate(self.target.disks):
            if TEMPLATES[disk.dev_type].mirrored is not Mirrored.NOT:
                raise OpPrereqError(
                    f"Instance disk {index} has disk type {disk.dev_type.value} and is not suitable for copying",
                    ECode.STATE,
                )

    async def _check_memory(self) -> None:
        if not self._move.is_up:
            self.info("- INFO: Not checking memory on the secondary node as instance will not be started")
            return
        spec, node = self._move.after.spec(), self._move.target
        await ask(self.nodes, node, HypervisorValidateParams.of(spec))
        purpose = f"moving instance {self.instance.name}"
        await check_free_memory(self.nodes, node, spec.hypervisor, int(spec.beparams["maxmem"]), purpose)

    def plan(self) -> Plan:
        """What shall be up is started in the end."""
        move, instance = self._move, (f"instance {self.instance.name}",)
        source, target = (move.source.name,), (move.target.name,)
        end = PlannedStep(STOP, source, instance, self.op.shutdown_timeout)
        steps = [*self._user_down.plan(), end, *self._kept.first_steps()]
        if self.target.disks:
            steps += [*creations(move.after), PlannedStep(COPY, move.nodes, instance)]
        steps.append(PlannedStep(PLACE, (), instance))
        if self.target.disks:
            steps.append(PlannedStep(REMOVE, source, instance))
        steps += self._kept.last_steps()
        return [*steps, *([PlannedStep(START, target, instance)] if move.is_up else [])]

    async def execute(self) -> None:
        """Move it."""
        await self._user_down.clear()
        await self._stop()
        await self._kept.carry()
        if self.target.disks:
            await create_disks(self.nodes, self._move.after, self.context.steps)
            await self._copy()
        async with self.step(PLACE, self._back()):
            after = self._move.after
            await self.config.place_instance(*places(replace(after, disks=await with_spindles(self.nodes, after))))
        await self.context.steps.settle(*self._removals())  # from here on it is there, whatever becomes of the rest
        self.info("- INFO: Removing the disks on the original node")
        if self.target.disks:
            async with self.step(REMOVE):
                await remove_disks(self.nodes, self.target, self.warn)
        await self._kept.leave()
        if self._move.is_up:
            await self._start()

    async def _stop(self) -> None:
        move = self._move
        self.info(f"- INFO: Shutting down instance {move.name} on source node {move.source.name}")
        again = on_node(f"start instance {move.name}", move.source, InstanceStart(instance=self.target.spec()))
        async with self.step(STOP, *([again] if move.is_up else [])):
            try:
                await stop(self.nodes, self.target, self.op.shutdown_timeout, self.warn)
            except OpExecError as error:
                if not self.op.ignore_consistency:
                    raise
                self.warn(f"{error}; proceeding anyway: make sure that node {move.source.name} is down")

    def _back(self) -> Undo:
        title = f"name node {self._move.source.name} as the primary node of instance {self._move.name} again"
        return in_config(title, IConfig.place_instance, *places(self.target))

    def _removals(self) -> Sequence[Undo]:
        """Nothing stays on its old node."""
        source = self._move.source
        return [removal(self.target, source, index) for index in range(len(self.target.disks))]

    async def _copy(self) -> None:
        source, target = DiskEnd(SENDING, self.target), DiskEnd(RECEIVING, self._move.after)
        indices = range(len(self.target.disks))
        carrying = Carrying(self, self.instance.name, indices, source, target, self.op.compress)
        async with self.step(COPY, *await carrying.prepare()):
            await carrying.carry()
            for view in (self.target, self._move.after):
                await shutdown_disks(self.nodes, view, self.warn)

    async def _start(self) -> None:
        move = self._move
        self.info(f"- INFO: Starting instance {move.name} on node {move.target.name}")
        view = await self.config.instance_view(self.instance.uuid)
        otherwise = f"stays marked as up; see 'gnt-instance info {move.name}' when the node can be reached"
        try:
            async with self.step(START, stop_again(view, otherwise)):
                await start(self.nodes, view, view.spec(), self.warn)
        except OpExecError as error:
            raise OpExecError(
                f"{error}; instance {move.name} is on node {move.target.name} now, not running; when that is mended,"
                f" 'gnt-instance startup {move.name}' starts it"
            ) from None

    async def hook_values(self) -> Mapping[str, object]:
        """With the node that it goes to."""
        return {**await super().hook_values(), "TARGET_NODE": self._move.target.name}

    async def object_nodes(self) -> Sequence[Node]:
        """The node where it is, or was, and the one where it goes."""
        return [self._move.source, self._move.target]
