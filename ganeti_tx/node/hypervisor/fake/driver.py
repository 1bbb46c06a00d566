"""The fake hypervisor: an instance is a file that says it runs. For clusters without QEMU, and for tests."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import define
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.hypervisor import ConsoleKind
from ganeti_tx.model.hypervisors.fake import HYPERVISOR
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.model.migration import DiskCopyProgress, MigrationProgress, MigrationState, Side
from ganeti_tx.node.hypervisor.copying_interface import ICopiesDisks
from ganeti_tx.node.hypervisor.host import read_host_facts
from ganeti_tx.node.hypervisor.interfaces import (
    AttachedDisk,
    IBalloon,
    IFreezes,
    IGrows,
    IHotplug,
    IHypervisor,
    ILiveMigration,
    InstanceInfo,
    ITellsFormats,
    ITellsInterfaces,
    Owner,
    RunState,
    TlsPair,
)
from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.live import ENDED, SHUT_DOWN, check_balloon, not_running
from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.node.hypervisor.nics.names import interface_name
from ganeti_tx.node.hypervisor.parameters import refuse_any
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

FILE_MODE = 0o640
DIRECTORY_MODE = 0o750
MAX_FILE = 64 * 1024
#: Where disks are offered that nobody fills.
NO_PORT = 1


class Running(msgspec.Struct, frozen=True):
    """What the file of a running instance holds; `started` and `rebooted` are seconds since the epoch.

    @ivar side: what it is of a migration; of one that runs, nothing is under way.
    @ivar frozen: whether its file systems stand still. @ivar powered_off: whether its user has shut it down.
    @ivar uuid: that of the instance ('': by an older version).
    @ivar disks, nics: what the guest has, by uuid: where a disk's data are, and what an interface is connected to.
    @ivar formats: as what disks are read, by their uuids.
    """

    id: int
    memory: int
    vcpus: int
    started: float
    paused: bool = False
    rebooted: float | None = None
    memory_at_start: int = 0
    side: Side = Side.RUNS
    frozen: bool = False
    powered_off: bool = False
    disks: dict[str, str] = {}
    formats: dict[str, str] = {}
    nics: dict[str, NicSpec] = {}
    uuid: str = ""


@implementer(IHypervisor, IHotplug, IGrows, IBalloon, ICopiesDisks, IFreezes, ILiveMigration, ITellsFormats)
@implementer(ITellsInterfaces)
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
            formats={disk.spec.uuid: disk.spec.format for disk in disks},
            nics={nic.uuid: nic for nic in instance.nics},
            uuid=instance.uuid,
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
        state = RunState.SHUTDOWN_BY_USER if running.powered_off else RunState.RUNNING
        return InstanceInfo(
            *(instance_name, running.id, running.memory, running.vcpus, state, seconds),
            uuid=running.uuid,
            ended_by=self._ended_by(instance_name),
        )

    async def owner(self, instance_name: str, other_than: str = "") -> Owner | None:
        """As IHypervisor says."""
        running = self._read(instance_name)
        if running is None or running.uuid in ("", other_than):
            return None
        return Owner(running.uuid, self._ended_by(instance_name))

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
        refuse_any(HYPERVISOR.wrong_values(hvparams))

    async def console(self, instance: InstanceSpec) -> ToldConsole:
        """There is none, and the message says so."""
        text = "Console not available for fake hypervisor"
        return ToldConsole(kind=ConsoleKind.MESSAGE, message=text)

    async def check_hotplug(self, instance: InstanceSpec, disks: bool = False, nics: bool = False) -> None:
        """As IHotplug says; whatever runs can be changed."""
        self._running(instance.name)

    async def plug_disk(self, instance: InstanceSpec, disk: AttachedDisk) -> None:
        """As IHotplug says."""
        running = self._running(instance.name)
        disks = {**running.disks, disk.spec.uuid: disk.path}
        formats = {**running.formats, disk.spec.uuid: disk.spec.format}
        await self._write(instance.name, msgspec.structs.replace(running, disks=disks, formats=formats))

    async def unplug_disk(self, instance: InstanceSpec, disk: DiskSpec) -> None:
        """As IHotplug says; the guest lets everything go."""
        running = self._running(instance.name)
        disks = {uuid: path for uuid, path in running.disks.items() if uuid != disk.uuid}
        formats = {uuid: each for uuid, each in running.formats.items() if uuid != disk.uuid}
        await self._write(instance.name, msgspec.structs.replace(running, disks=disks, formats=formats))

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

    async def interface_to(self, instance: InstanceSpec, nic: NicSpec) -> str | None:
        """As ITellsInterfaces says: as it would be called."""
        running = self._read(instance.name)
        return interface_name(self.paths.root, nic, "") if running is not None and nic.uuid in running.nics else None

    async def disk_formats(self, instance_name: str) -> Mapping[str, str]:
        """As ITellsFormats says: as what they were attached."""
        running = self._read(instance_name)
        return {} if running is None else running.formats

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

    async def freeze(self, instance_name: str, limit: float) -> str:
        """As IFreezes says, but for the limit: nothing waits for them."""
        await self._write(instance_name, msgspec.structs.replace(self._running(instance_name), frozen=True))
        return ""

    async def thaw(self, instance_name: str) -> bool:
        """As IFreezes says."""
        running = self._read(instance_name)
        if running is None or not running.frozen:
            return False
        await self._write(instance_name, msgspec.structs.replace(running, frozen=False))
        return True

    def thaw_all(self) -> None:
        """As IFreezes says; the next `thaw` will do."""

    async def migration_info(self, instance: InstanceSpec) -> Mapping[str, Any]:
        """As ILiveMigration says: what the guest has."""
        running = self._running(instance.name)
        taken: dict[str, Any] = msgspec.to_builtins(running)
        return taken

    async def accept(
        self,
        instance: InstanceSpec,
        disks: Sequence[AttachedDisk],
        info: Mapping[str, Any],
        address: str,
        tls: TlsPair | None = None,
        disks_come: bool = False,
        source: str = "",
    ) -> None:
        """As ILiveMigration says."""
        waiting = self._read(instance.name)
        if waiting is not None and waiting.side is not Side.INCOMING:
            raise HypervisorError(f"instance {instance.name} runs already")
        number = max((each.hv_id for each in await self.list_instances()), default=0) + 1
        paths = {disk.spec.uuid: disk.path for disk in disks}
        formats = {disk.spec.uuid: disk.spec.format for disk in disks}
        own = {"id": number, "disks": paths, "formats": formats, "side": Side.INCOMING.value, "uuid": instance.uuid}
        coming = msgspec.convert({**info, **own}, Running)
        await self._write(instance.name, coming)

    async def send(
        self,
        instance: InstanceSpec,
        address: str,
        live: bool,
        tls: TlsPair | None = None,
        source: str = "",
        told: Mapping[str, Any] | None = None,
    ) -> None:
        """As ILiveMigration says; it takes no time, and what was sent stands still until it is let run there."""
        running = self._running(instance.name)
        if running.powered_off:
            raise HypervisorError(f"instance {instance.name}: {SHUT_DOWN}")
        await self._turn(instance.name, running, Side.SENT)

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

    async def leave_source(self, instance_name: str, target_is_gone: bool = False) -> None:
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

    async def refuse(self, instance_name: str, goes_on_elsewhere: bool = False) -> None:
        """As ILiveMigration says."""
        running = self._read(instance_name)
        if running is not None and running.side is not Side.INCOMING:
            raise HypervisorError(f"instance {instance_name} runs here already")
        await self.stop(instance_name, 0.0, force=True)

    async def offer_disks(self, instance: InstanceSpec, address: str, source: str = "") -> int:
        """As ICopiesDisks says; nobody will come."""
        if await self.migration_side(instance.name) is not Side.INCOMING:
            raise HypervisorError(f"instance {instance.name} does not wait for its memory")
        return NO_PORT

    async def copy_disks(
        self,
        instance: InstanceSpec,
        address: str,
        port: int,
        tls: TlsPair | None,
        source: str = "",
        told: Mapping[str, Any] | None = None,
    ) -> None:
        """As ICopiesDisks says; there is nothing on its disks."""
        self._running(instance.name)

    async def copy_progress(self, instance_name: str) -> DiskCopyProgress:
        """As ICopiesDisks says: it takes no time."""
        running = self._read(instance_name)
        fault = ENDED if running is None else SHUT_DOWN if running.powered_off else ""
        return DiskCopyProgress(whole=not fault, copied=0, total=0, fault=fault)

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
        return self.paths.fake_run_dir

    def _path(self, instance_name: str) -> Path:
        return self._directory / checked_name(instance_name)

    def _ended_by(self, instance_name: str) -> str:
        return f"rm {self._path(instance_name)}"

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
