"""Exporting an instance: its disks, by the export script of its OS, to a directory of a node or to another cluster."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from ganeti_tx.errors import OpExecError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.backup.ends import ScriptEnd
from ganeti_tx.logic.backup.export_checks import check_alone, check_request, reads_disks_themselves, zeroing_limit
from ganeti_tx.logic.backup.remote.target import RemoteTarget
from ganeti_tx.logic.backup.snapshots import SNAPSHOT, Snapshots
from ganeti_tx.logic.backup.targets import COPY, LocalTarget, Target
from ganeti_tx.logic.disks.ends import SENDING
from ganeti_tx.logic.disks.on_nodes import assemble_elsewhere, disk_nodes, shutdown_disks, shutdowns
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.image_run.run import ImageRun
from ganeti_tx.logic.instance.moves.kept_state import keepers
from ganeti_tx.logic.instance.presence import is_running, seen_running, start, stop
from ganeti_tx.logic.instance.removal import Removal
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.instance.user_down import UserDown
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.undos import on_node
from ganeti_tx.logic.wanted_locks import on_allocation, on_nodes
from ganeti_tx.model.disk_template import RAW
from ganeti_tx.model.export_file import Dump
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.backup import OpBackupExport
from ganeti_tx.model.opcodes.types import ExportMode
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import InstanceStart

STOP, START = "stop the instance", "start the instance again"
DROP = "remove the snapshots of its disks"


class LUBackupExport(InstanceUnit[OpBackupExport]):
    """Until the export is whole a failure leaves the former export and the instance as they were."""

    hook = Hook("instance-export", HookObject.INSTANCE, asked={"SHUTDOWN_TIMEOUT": "shutdown_timeout"})

    _to: Target
    _user_down: UserDown
    #: Whether it ran, and whether its machine is there, which may do nothing.
    _runs: bool = False
    _is_there: bool = False
    _snapshots: Snapshots | None = None
    _zeroing: ImageRun | None = None
    _keepers: Sequence[Node] = ()

    async def expand_names(self) -> None:
        """Which instance, and where to."""
        await super().expand_names()
        check_alone(self.op)
        now = self.context.now()
        if self.op.mode is ExportMode.REMOTE:
            self._to = RemoteTarget.asked(self, self.op, now, self.context.domain_secret())
        else:
            self._to = await LocalTarget.asked(self, self.op, now)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The instance, its nodes, and the one that gets the export."""
        if level is Level.NODE_ALLOC:
            return [on_allocation()]
        if level is Level.NODE:
            view = await self.config.instance_view(self._named.uuid)
            return on_nodes([*view.nodes, *(node.uuid for node in self._to.nodes)], Mode.SHARED)
        return await super().locks_at(level)

    async def check(self) -> None:
        """It can be read as it is wanted, its OS can export it, and the node can have it."""
        await super().check()
        check_online(self.target.primary, f"export instance {self.instance.name}")
        seen = await seen_running(self.nodes, self.target)
        self._user_down = UserDown.of(self, self.context.steps, self.target, seen if self._ends else None)
        self.target = self._user_down.after
        self._runs, self._is_there = is_running(seen), seen is not None and not self._user_down.needed
        await self._to.check(self.target)
        await check_request(self.nodes, self.op, self.target, runs=self._runs)
        if self.op.remove_instance:
            self._keepers = await keepers(self, self.target, await self.config.nodes())
        if self.op.zero_free_space and self.target.disks:
            self._zeroing = await ImageRun.planned(
                self,
                self.target,
                self.target.cluster.zeroing_image,
                zeroing_limit(self.op, self.target),
                runs=seen is not None,
            )
        if (self._runs or self._holds_images) and self.target.disks and not reads_disks_themselves(self.op):
            self._snapshots = await Snapshots.planned(self, self.target)

    @property
    def _ends(self) -> bool:
        """Whether its machine is not to be there any more; one that runs is removed only if it is shut down, too."""
        return self.op.shutdown or self.op.remove_instance

    @property
    def _stops(self) -> bool:
        return self._ends and self._is_there

    @property
    def _holds_images(self) -> bool:
        """Whether nobody else can read its disks, whether it runs or not."""
        return self._is_there and not self._stops and any(disk.format != RAW for disk in self.target.disk_specs())

    @property
    def _starts_again(self) -> bool:
        return self._stops and self._runs and not self.op.remove_instance

    @property
    def _restart(self) -> Undo:
        name = self.instance.name
        return on_node(f"start instance {name}", self.target.primary, InstanceStart(instance=self.target.spec()))

    @property
    def _removal(self) -> Removal:
        advice = f"{self._to.whereabouts()}; when that is mended, 'gnt-instance remove {self.instance.name}' removes it"
        return Removal(self, self.context.locks, self.target, self.op.ignore_remove_failures, advice, self._keepers)

    def plan(self) -> Plan:
        """The instance is down as short as can be."""
        name = self.instance.name
        instance, home = (f"instance {name}",), (self.target.primary.name,)
        starts = [PlannedStep(START, disk_nodes(self.target), instance)] if self._starts_again else []
        steps = [*self._user_down.plan()]
        if self._stops:
            steps.append(PlannedStep(STOP, home, instance, self.op.shutdown_timeout))
        if self._zeroing is not None:
            steps += self._zeroing.steps()
        if self._snapshots is not None:
            steps += [PlannedStep(SNAPSHOT, home, instance), *starts]
        steps += self._to.before(name)
        if self.target.disks:
            there = tuple(node.name for node in self._to.nodes)
            both = tuple(dict.fromkeys((*disk_nodes(self.target), *home, *there)))
            steps.append(PlannedStep(COPY, both, (*instance, f"export {name}")))
        if self._snapshots is not None:
            steps.append(PlannedStep(DROP, home, instance))
        steps += self._to.after(name)
        steps += starts if self._snapshots is None else []
        if self.op.remove_instance:
            steps += self._removal.plan()
        return [*steps, *self._to.last(name)]

    async def execute(self) -> list[Any]:
        """Gives whether the export is whole, and whether each disk is in it."""
        with ExitStack() as final:
            return await self._export(final)

    async def _export(self, final: ExitStack) -> list[Any]:
        """@param final: what is left when all is done."""
        await self._user_down.clear()
        await self._stop()
        await self._zero()
        if self._snapshots is not None:
            await self._snapshots.make(runs=self._runs and not self._stops)
            await self._start_again()
        await self._to.begin(self._name)
        sums = await self._copy(final) if self.target.disks else {}
        if self._snapshots is not None:
            async with self.step(DROP):
                await self._snapshots.drop()
        await self._to.finish(self.target, self._dumps(sums) if sums else ())
        if self._snapshots is None:
            await self.context.steps.settle(*([self._restart] if self._starts_again else []), *self._to.undos())
            await self._start_again()
        else:
            await self.context.steps.settle(*self._to.undos())
        if self.op.remove_instance:
            self.info(f"Removing instance {self._name}")
            await self._removal.execute()
        await self._to.clear(self._name)
        return [True, [True for _ in self.target.disks]]

    @property
    def _name(self) -> str:
        return self.instance.name

    async def _stop(self) -> None:
        if self.op.shutdown:
            self.info(f"Shutting down instance {self._name}")
        if self._stops:
            async with self.step(STOP, *([self._restart] if self._runs else [])):
                await stop(self.nodes, self.target, self.op.shutdown_timeout, self.warn)

    async def _zero(self) -> None:
        """Nothing but a start, if it ran, is due when that is done."""
        if self._zeroing is None:
            return
        self.info(f"Zeroing the free space on the disks of instance {self._name}")
        down = not self.instance.disks_active
        await self._zeroing.run(self.target.spec(), down=down)
        if down and self._snapshots is None:
            await shutdown_disks(self.nodes, self.target, self.warn)
        await self.context.steps.settle(*([self._restart] if self._starts_again else []))

    async def _start_again(self) -> None:
        if not self._starts_again:
            return
        self.info(f"Starting instance {self._name}")
        try:
            async with self.step(START):
                await start(self.nodes, self.target, self.target.spec(), self.warn)
        except OpExecError as error:
            raise OpExecError(f"{error}; when that is mended, 'gnt-instance startup {self._name}' starts it") from None

    async def _copy(self, final: ExitStack) -> Mapping[int, str]:
        """The checksum of each dump, where it is known."""
        down = not (self.instance.disks_active or self._runs)
        devices = {} if self._snapshots is None else self._snapshots.devices
        source = ScriptEnd(SENDING, self.target.primary, self.target.spec(), self.op.debug_level or 0, devices)
        transfers = self._to.transfers(source, self._dumps({}))
        undos = (*(shutdowns(self.target) if down else ()), *self._to.undos(), *await transfers.prepare())
        async with self.step(COPY, *undos):
            if down:
                self.info(f"Activating disks for {self._name}")
                await assemble_elsewhere(self.nodes, self.target, self.warn)
            await transfers.carry()
            if self._to.is_final:  # who has it now keeps it: a stop would have the instance run here, too
                final.enter_context(self.context.safe_points.shield())
            if down:
                self.info(f"Deactivating disks for {self._name}")
                await shutdown_disks(self.nodes, self.target, self.warn)
        return transfers.sums

    def _dumps(self, sums: Mapping[int, str]) -> list[Dump]:
        """What the export has of each disk, by the uuid of what was read."""
        devices = {} if self._snapshots is None else self._snapshots.devices
        uuids = {index: disk.uuid for index, disk in enumerate(self.target.disks)}
        uuids.update({index: device.uuid for index, device in devices.items()})
        return [Dump(index, uuid, sums.get(index, "")) for index, uuid in uuids.items()]

    async def hook_values(self) -> Mapping[str, object]:
        """With what was asked for."""
        asked = {
            "EXPORT_MODE": self.op.mode.value,
            "EXPORT_NODE": " ".join(node.name for node in self._to.nodes),
            "EXPORT_DO_SHUTDOWN": self.op.shutdown,
            "REMOVE_INSTANCE": self.op.remove_instance,
        }
        return {**await super().hook_values(), **asked}

    async def object_nodes(self) -> Sequence[Node]:
        """The node that it is on, and the one that gets the export."""
        nodes = {node.uuid: node for node in (self.target.primary, *self._to.nodes)}
        return list(nodes.values())

    async def read_again(self) -> None:
        """If it is not there any more hooks are told what it was."""
        if not self.op.remove_instance:
            await super().read_again()
