"""The fake hypervisor: an instance is a file that says it runs. For clusters without QEMU, and for tests."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import define
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.fake import HYPERVISOR
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.model.migration import MigrationProgress, MigrationState, Side
from ganeti_tx.node.hypervisor.host import read_host_facts
from ganeti_tx.node.hypervisor.interfaces import (
    AttachedDisk,
    IBalloon,
    IGrows,
    IHotplug,
    IHypervisor,
    ILiveMigration,
    InstanceInfo,
    RunState,
)
from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.live import check_balloon, not_running
from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

FILE_MODE = 0o640
DIRECTORY_MODE = 0o750
MAX_FILE = 64 * 1024


class Running(msgspec.Struct, frozen=True):
    """What the file of a running instance holds; `started` and `rebooted` are seconds since the epoch.

    @ivar side: what it is of a migration; of one that runs, nothing is under way.
    @ivar disks, nics: what the guest has, by uuid: where a disk's data are, and what an interface is connected to.
    """

    id: int
    memory: int
    vcpus: int
    started: float
    paused: bool = False
    rebooted: float | None = None
    memory_at_start: int = 0
    side: Side = Side.RUNS
    disks: dict[str, str] = {}
    nics: dict[str, NicSpec] = {}


@implementer(IHypervisor, IHotplug, IGrows, IBalloon, ILiveMigration)
@define
class FakeHypervisor:
    """State lives below the node's run directory, so it survives the daemon and ends with the machine."""

    files: IFiles
    paths: Paths
    now: Callable[[], float]
    name: str = "fake"

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """As IHypervisor says."""
        path = self._path(instance.name)
        if self.files.exists(path):
            raise HypervisorError(f"instance {instance.name} runs already")
        running = Running(
            id=max((each.hv_id for each in await self.list_instances()), default=0) + 1,
            memory=int(instance.beparams["maxmem"]),
            vcpus=int(instance.beparams["vcpus"]),
            started=self.now(),
            paused=paused,
            memory_at_start=int(instance.beparams["maxmem"]),
            disks={disk.spec.uuid: disk.path for disk in disks},
            nics={nic.uuid: nic for nic in instance.nics},
        )
        await self._write(instance.name, running)

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> None:
        """As IHypervisor says; the guest shuts down at once."""
        path = self._path(instance_name)
        if self.files.exists(path):
            self.files.remove(path)

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """As IHypervisor says."""
        running = self._running(instance.name)
        await self._write(instance.name, msgspec.structs.replace(running, rebooted=self.now()))

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """As IHypervisor says."""
        running = self._read(instance_name)
        if running is None:
            return None
        seconds = max(0.0, self.now() - running.started)
        return InstanceInfo(instance_name, running.id, running.memory, running.vcpus, RunState.RUNNING, seconds)

    async def list_instances(self) -> list[InstanceInfo]:
        """As IHypervisor says."""
        found = [await self.info(name) for name in self._names()]
        return [each for each in found if each is not None]

    async def node_info(self) -> Mapping[str, Any]:
        """The machine's memory, less what the running instances would have taken."""
        facts = dict(read_host_facts(self.files).as_hv_info())
        taken = sum(each.memory for each in await self.list_instances())
        return {**facts, "memory_free": max(0, facts["memory_free"] - taken)}

    async def verify(self) -> list[str]:
        """Nothing can be wrong but its directory."""
        try:
            self._names()
        except OSError as error:
            return [f"cannot read {self._directory}: {error.strerror}"]
        return []

    async def validate(self, hvparams: Mapping[str, Any]) -> None:
        """It takes every parameter of its table, with the values that they may have."""
        if faults := list(HYPERVISOR.unknown_values(hvparams)):
            raise HypervisorError("; ".join(faults))

    async def console(self, instance: InstanceSpec, node_name: str) -> Mapping[str, Any]:
        """There is none, and the message says so."""
        text = "Console not available for fake hypervisor"
        return {"instance": instance.name, "kind": "msg", "message": text}

    async def check_hotplug(self, instance: InstanceSpec, disks: bool = False, nics: bool = False) -> None:
        """As IHotplug says; whatever runs can be changed."""
        self._running(instance.name)

    async def plug_disk(self, instance: InstanceSpec, disk: AttachedDisk) -> None:
        """As IHotplug says."""
        running = self._running(instance.name)
        disks = {**running.disks, disk.spec.uuid: disk.path}
        await self._write(instance.name, msgspec.structs.replace(running, disks=disks))

    async def unplug_disk(self, instance: InstanceSpec, disk: DiskSpec) -> None:
        """As IHotplug says; the guest lets everything go."""
        running = self._running(instance.name)
        disks = {uuid: path for uuid, path in running.disks.items() if uuid != disk.uuid}
        await self._write(instance.name, msgspec.structs.replace(running, disks=disks))

    async def plug_nic(self, instance: InstanceSpec, nic: NicSpec, index: int) -> None:
        """As IHotplug says."""
        running = self._running(instance.name)
        nics = {**running.nics, nic.uuid: nic}
        await self._write(instance.name, msgspec.structs.replace(running, nics=nics))

    async def unplug_nic(self, instance: InstanceSpec, nic: NicSpec) -> None:
        """As IHotplug says; the guest lets everything go."""
        running = self._running(instance.name)
        nics = {uuid: each for uuid, each in running.nics.items() if uuid != nic.uuid}
        await self._write(instance.name, msgspec.structs.replace(running, nics=nics))

    async def check_growth(self, instance: InstanceSpec, vcpus: int, memory: int) -> None:
        """As IGrows says; it loses none, as no guest does."""
        running = self._running(instance.name)
        if vcpus < running.vcpus or memory < running.memory:
            raise HypervisorError(f"instance {instance.name} can lose neither processors nor memory while it runs")

    async def grow(self, instance: InstanceSpec, vcpus: int, memory: int) -> None:
        """As IGrows says."""
        await self.check_growth(instance, vcpus, memory)
        changes = {"vcpus": vcpus, "memory": memory, "memory_at_start": memory}
        await self._write(instance.name, msgspec.structs.replace(self._running(instance.name), **changes))

    async def balloon(self, instance_name: str, memory: int) -> None:
        """As IBalloon says; the guest obeys."""
        running = self._running(instance_name)
        check_balloon(instance_name, memory, running.memory_at_start or running.memory)
        await self._write(instance_name, msgspec.structs.replace(running, memory=memory))

    async def migration_info(self, instance: InstanceSpec) -> Mapping[str, Any]:
        """As ILiveMigration says: what the guest has."""
        running = self._running(instance.name)
        taken: dict[str, Any] = msgspec.to_builtins(running)
        return taken

    async def accept(
        self, instance: InstanceSpec, disks: Sequence[AttachedDisk], info: Mapping[str, Any], address: str
    ) -> None:
        """As ILiveMigration says."""
        waiting = self._read(instance.name)
        if waiting is not None and waiting.side is not Side.INCOMING:
            raise HypervisorError(f"instance {instance.name} runs already")
        number = max((each.hv_id for each in await self.list_instances()), default=0) + 1
        paths = {disk.spec.uuid: disk.path for disk in disks}
        coming = msgspec.convert({**info, "id": number, "disks": paths, "side": Side.INCOMING.value}, Running)
        await self._write(instance.name, coming)

    async def send(self, instance: InstanceSpec, address: str, live: bool) -> None:
        """As ILiveMigration says; it takes no time, and what was sent stands still until it is let run there."""
        await self._turn(instance.name, self._running(instance.name), Side.SENT)

    async def migration_progress(self, instance_name: str, wait: float = 0.0) -> MigrationProgress:
        """As ILiveMigration says."""
        running = self._read(instance_name)
        if running is None:
            raise not_running(instance_name)
        sent = running.memory << 20
        state = MigrationState.COMPLETED if running.side is Side.SENT else MigrationState.CANCELLED
        return MigrationProgress(state, sent, sent, 0, 0)

    async def migration_side(self, instance_name: str) -> Side | None:
        """As ILiveMigration says."""
        running = self._read(instance_name)
        return None if running is None else running.side

    async def stay_on_source(self, instance_name: str, target_is_gone: bool) -> None:
        """As ILiveMigration says."""
        running = self._read(instance_name)
        if running is None:
            raise not_running(instance_name)
        if running.side is Side.SENT and not target_is_gone:
            raise HypervisorError(f"all of instance {instance_name} was sent, it may run elsewhere")
        await self._turn(instance_name, running, Side.RUNS)

    async def leave_source(self, instance_name: str) -> None:
        """As ILiveMigration says."""
        running = self._read(instance_name)
        if running is not None and running.side is not Side.SENT:
            raise HypervisorError(f"instance {instance_name} runs here, it was not sent")
        await self.stop(instance_name, 0.0, force=True)

    async def take_over(self, instance_name: str) -> None:
        """As ILiveMigration says."""
        running = self._read(instance_name)
        if running is None:
            raise not_running(instance_name)
        await self._turn(instance_name, running, Side.RUNS)

    async def refuse(self, instance_name: str) -> None:
        """As ILiveMigration says."""
        running = self._read(instance_name)
        if running is not None and running.side is not Side.INCOMING:
            raise HypervisorError(f"instance {instance_name} runs here already")
        await self.stop(instance_name, 0.0, force=True)

    async def _turn(self, instance_name: str, running: Running, side: Side) -> None:
        if running.side is not side:
            await self._write(instance_name, msgspec.structs.replace(running, side=side))

    def _running(self, instance_name: str) -> Running:
        running = self._read(instance_name)
        if running is None or running.side is Side.INCOMING:
            raise not_running(instance_name)
        return running

    @property
    def _directory(self) -> Path:
        return self.paths.run_dir / "fake-hypervisor"

    def _path(self, instance_name: str) -> Path:
        return self._directory / checked_name(instance_name)

    def _names(self) -> list[str]:
        return self.files.listdir(self._directory) if self.files.exists(self._directory) else []

    def _read(self, instance_name: str) -> Running | None:
        path = self._path(instance_name)
        if not self.files.exists(path):
            return None
        try:
            return msgspec.json.decode(self.files.read(path, MAX_FILE), type=Running)
        except (msgspec.DecodeError, OSError) as error:
            raise HypervisorError(f"cannot read the state of instance {instance_name} in {path}: {error}")

    async def _write(self, instance_name: str, running: Running) -> None:
        self.files.mkdir(self._directory, DIRECTORY_MODE)
        try:
            await self.files.write_atomic(self._path(instance_name), msgspec.json.encode(running), FILE_MODE)
        except OSError as error:
            raise HypervisorError(f"cannot write the state of instance {instance_name}: {error.strerror or error}")


def register(parts: HypervisorParts) -> FakeHypervisor:
    """See `kinds.Register`."""
    return FakeHypervisor(parts.files, parts.paths, parts.now)
