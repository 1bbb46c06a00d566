"""The template `drbd`: two nodes' volumes kept alike by DRBD 8.4."""

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError, error_text
from ganeti_tx.model.disk_templates import driven_by
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.mirror_state import MirrorState
from ganeti_tx.model.status import BlockDevStatus, LocalDiskStatus
from ganeti_tx.node.storage.abilities import IMirror, IMirrorModule, MirrorModule
from ganeti_tx.node.storage.drbd import command
from ganeti_tx.node.storage.drbd.kernel import Kernel, NoMetadataError
from ganeti_tx.node.storage.drbd.mirror import Mirror
from ganeti_tx.node.storage.drbd.proc_drbd import UNCONFIGURED
from ganeti_tx.node.storage.drbd.setting_up import SettingUp, has_other_port
from ganeti_tx.node.storage.drbd.status import CONNECTED, INCONSISTENT, MirrorStatus
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.node.storage.kinds import StorageKind, StorageParts

log = Logger()

MAJOR = 147
KIB_IN_MIB = 1024
#: Seconds: between two looks; until a side that is there was found; until one that is gone was missed (DRBD asks it when it was
#: silent for ten, and looks at that every ten); until those are done who had a look at a new device.
PAUSE = 0.25
FINDING = 5.0
MISSING = 22.0
CLOSING = 3.0
#: What DRBD says of a device that somebody has open, and of two primary sides.
HELD_OPEN = "(-12)"
TWO_PRIMARIES = "(-1)"


@implementer(IStorage, IMirror, IMirrorModule)
@frozen
class DrbdMirrors:
    """The mirrors of this node. Their minors are the cluster's alone: what is found there and is none of ours goes."""

    template: str
    kernel: Kernel
    clock: IReactorTime

    async def module(self) -> MirrorModule:
        """See `IMirrorModule`."""
        found = await self.kernel.proc()
        minors = [each["minor"] for each in found.devices if each["connectionState"] != UNCONFIGURED]
        return MirrorModule(found.version["version"], await self.kernel.helper(), minors)

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`: the metadata volume is overwritten, and written anew."""
        mirror, parts = Mirror.of(disk), _parts(disk, below)
        if not 0 < disk.size <= parts[0].size:
            raise BlockDeviceError(f"{mirror.label} cannot have {disk.size} MiB on one of {parts[0].size}")
        await self.kernel.proc()
        if await self._setting_up.takes_over(mirror, parts):
            raise BlockDeviceError(f"{mirror.label} exists")
        meta = parts[1]
        await self.kernel.write_metadata(mirror, meta.dev_path, meta.size)

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`: it is nothing but what it was made of."""
        Mirror.of(disk)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`: to what the volumes on both sides have room for."""
        mirror = Mirror.of(disk)
        status = await self._up(mirror)
        if amount < 0:
            raise BlockDeviceError(f"{mirror.label} cannot shrink: {amount} MiB to add")
        if not dry_run:
            size = status.size // KIB_IN_MIB + amount
            await self.kernel.do(f"{mirror.label} cannot have {size} MiB", command.resize_argv(mirror, size))
            self._check_grown(mirror, await self._up(mirror), size)

    @staticmethod
    def _check_grown(mirror: Mirror, status: MirrorStatus, size: int) -> None:
        """The module says that it succeeds, too, when it has found that it cannot know the room on the other side."""
        if status.size < size * KIB_IN_MIB:
            raise BlockDeviceError(
                f"{mirror.label} still has {status.size // KIB_IN_MIB} MiB, and cannot have {size} before both sides are"
                f" connected: this one is {status.connection}"
            )

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        raise BlockDeviceError(f"{Mirror.of(disk).label} cannot be renamed: nothing on this node has its name")

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`: what is set up already, and is this disk's, is taken over."""
        mirror = Mirror.of(disk)
        await self.kernel.proc()
        parts = _parts(disk, below) if below else ()
        fresh = not await self._setting_up.takes_over(mirror, parts)
        try:
            own = await self._complete(mirror, parts)
            await self._become_useful(mirror, primary, own)
        except BlockDeviceError:
            if fresh:
                await self.kernel.tried(command.down_argv(mirror.resource))
            raise
        return await self._block_device(mirror, await self._up(mirror))

    async def _complete(self, mirror: Mirror, parts: Below) -> bool:
        """Whether it has its own part: volumes that were never a mirror's are as good as none."""
        try:
            await self._setting_up.complete(mirror, parts)
        except NoMetadataError as error:
            log.warn("{fault}, so it has to do without its own part", fault=str(error))
            await self._setting_up.complete(mirror, ())
            return False
        return bool(parts)

    async def _become_useful(self, mirror: Mirror, primary: bool, has_part: bool) -> None:
        if primary or not has_part:
            await self._until(mirror, lambda status: not status.is_settling, FINDING)
        if primary:
            await self._become_primary(mirror, exclusive=True)
        if not has_part and not (await self._up(mirror)).has_good_peer:
            raise BlockDeviceError(f"{mirror.label} has neither a part here nor good data on the other side")

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`: what has its minor by now and is another disk's, by its port, stays."""
        mirror = Mirror.of(disk)
        if await self.kernel.status(mirror) is None or has_other_port(await self.kernel.shown_as(mirror.minor), mirror):
            return
        await self._take_down(mirror.label, mirror.minor, mirror.resource)

    async def all_down(self) -> list[str]:
        """See `IMirrorModule`; a machine that was cut off just now may hold its own open for a moment."""
        faults = []
        for each in await self.kernel.shown() if await self.kernel.is_loaded() else ():
            try:
                await self._take_down(f"DRBD minor {each.minor}", each.minor, each.resource)
            except BlockDeviceError as error:
                faults.append(error_text(error))
        return faults

    async def _take_down(self, label: str, minor: int, resource: str) -> None:
        async def down() -> str:
            return await self.kernel.tried(command.secondary_argv(minor)) or await self.kernel.tried(
                command.down_argv(resource)
            )

        await self._patiently(f"{label} cannot be taken down", HELD_OPEN, CLOSING, down)

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`."""
        return await self.kernel.status(Mirror.of(disk)) is not None

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`: one that is not set up is there if its volumes are."""
        mirror = Mirror.of(disk)
        status = await self.kernel.status(mirror)
        if status is not None:
            return await self._block_device(mirror, status)
        data, *_ = below or [None]
        if data is None or len(below) != len(disk.children) or None in below:
            return None
        return BlockDevStatus(
            dev_path=mirror.path, size=data.size, is_degraded=True, ldisk_status=LocalDiskStatus.UNKNOWN
        )

    def data_children(self, disk: DiskSpec) -> Sequence[DiskSpec]:
        """See `IMirror`."""
        return disk.children[:1]

    async def become_primary(self, disk: DiskSpec, exclusive: bool = True) -> None:
        """See `IMirror`."""
        mirror = Mirror.of(disk)
        status = await self._up(mirror)
        if not exclusive or not status.is_good:
            await self._until(mirror, lambda status: not status.is_settling, FINDING)
        await self._become_primary(mirror, exclusive)

    async def _become_primary(self, mirror: Mirror, exclusive: bool) -> None:
        status = await self._up(mirror)
        if status.is_primary:
            return
        if exclusive and status.peer_role == "Primary":
            status = await self._until(mirror, lambda status: status.peer_role != "Primary", MISSING)
            if status.peer_role == "Primary":
                raise BlockDeviceError(f"{mirror.label}: the other side is primary")
        force = await self._is_first(mirror, status)

        async def promote() -> str:
            return await self.kernel.tried(command.primary_argv(mirror, force))

        await self._patiently(f"{mirror.label} cannot be primary", TWO_PRIMARIES, PAUSE, promote)

    async def _is_first(self, mirror: Mirror, status: MirrorStatus) -> bool:
        """Whether neither side was ever filled, so that this one may say what the data are."""
        if (status.disk, status.peer_disk, status.connection) != (INCONSISTENT, INCONSISTENT, CONNECTED):
            return False
        return not status.is_syncing and (await self.kernel.generations(mirror)).is_new

    async def become_secondary(self, disk: DiskSpec) -> None:
        """See `IMirror`."""
        mirror = Mirror.of(disk)
        if (await self._up(mirror)).is_primary:

            async def demote() -> str:
                return await self.kernel.tried(command.secondary_argv(mirror.minor))

            await self._patiently(f"{mirror.label} cannot be secondary", HELD_OPEN, CLOSING, demote)

    async def disconnect(self, disk: DiskSpec) -> None:
        """See `IMirror`."""
        mirror = Mirror.of(disk)
        await self._up(mirror)
        await self._setting_up.disconnect(mirror)

    async def connect(self, disk: DiskSpec, both_primary: bool, discard: bool = False) -> None:
        """See `IMirror`."""
        mirror = Mirror.of(disk)
        status = await self._up(mirror)
        if discard and status.is_primary:
            raise BlockDeviceError(f"{mirror.label} is primary here, so its data are not given up")
        await self._setting_up.connect(mirror, both_primary, discard)

    async def pause_sync(self, disk: DiskSpec, pause: bool) -> None:
        """See `IMirror`."""
        mirror = Mirror.of(disk)
        await self._up(mirror)
        await self.kernel.pause(mirror, pause)

    async def attach_children(self, disk: DiskSpec, below: Below) -> None:
        """See `IMirror`: whatever a volume was before, its metadata are not believed."""
        mirror = Mirror.of(disk)
        status, parts = await self._up(mirror), _parts(disk, below)
        if status.local is not LocalDiskStatus.FAULTY:
            raise BlockDeviceError(f"{mirror.label} has a part here already")
        if not status.has_good_peer:
            raise BlockDeviceError(f"{mirror.label} cannot be filled: the other side has no good data")
        await self.kernel.write_metadata(mirror, parts[1].dev_path, parts[1].size)
        await self._setting_up.attach(mirror, parts)

    async def detach_children(self, disk: DiskSpec) -> None:
        """See `IMirror`."""
        mirror = Mirror.of(disk)
        status = await self._up(mirror)
        if status.local is LocalDiskStatus.FAULTY:
            return
        if not status.has_good_peer:
            raise BlockDeviceError(f"{mirror.label} has the last good copy here")
        await self.kernel.do(f"{mirror.label} cannot do without its part", command.detach_argv(mirror))

    async def _up(self, mirror: Mirror) -> MirrorStatus:
        status = await self.kernel.status(mirror)
        if status is None:
            raise BlockDeviceError(f"{mirror.label} is not assembled")
        return status

    async def _until(self, mirror: Mirror, done: Callable[[MirrorStatus], bool], seconds: float) -> MirrorStatus:
        """The state as soon as it is one that is waited for, or when the time is over."""
        end = self.clock.seconds() + seconds
        while True:
            status = await self._up(mirror)
            if done(status) or self.clock.seconds() >= end:
                return status
            await deferLater(self.clock, PAUSE)

    async def _patiently(self, what: str, passing: str, seconds: float, attempt: Callable[[], Any]) -> None:
        """Try again for some time while what is said against it may pass. @raise BlockDeviceError: it did not."""
        end = self.clock.seconds() + seconds
        while said := await attempt():
            if passing not in said or self.clock.seconds() >= end:
                raise BlockDeviceError(f"{what}: {said}")
            await deferLater(self.clock, PAUSE)

    async def _block_device(self, mirror: Mirror, status: MirrorStatus) -> BlockDevStatus:
        return BlockDevStatus(
            dev_path=mirror.path,
            size=status.size // KIB_IN_MIB,
            major=MAJOR,
            minor=mirror.minor,
            sync_percent=status.percent,
            estimated_time=await self._time_left(mirror) if status.is_syncing else None,
            is_degraded=not (status.is_good and status.has_good_peer),
            ldisk_status=status.local,
            mirror=await self._apart(mirror, status),
        )

    async def _apart(self, mirror: Mirror, status: MirrorStatus) -> MirrorState | None:
        """How a side is that is not alike with the other; None of one that is, or becomes so."""
        if status.is_syncing or (status.is_good and status.has_good_peer):
            return None
        lost = status.local is LocalDiskStatus.FAULTY
        known = [] if lost else (await self.kernel.generations(mirror)).words
        return MirrorState(
            connection=status.connection, disk=status.disk, peer_disk=status.peer_disk, generations=known
        )

    async def _time_left(self, mirror: Mirror) -> float | None:
        found = await self.kernel.proc()
        told = next((each for each in found.devices if each["minor"] == mirror.minor), {})
        hours, minutes, seconds = (told.get("syncStatus", {}).get("timeToFinish") or "::").split(":")
        return float(hours) * 3600 + float(minutes) * 60 + float(seconds) if seconds else None

    @property
    def _setting_up(self) -> SettingUp:
        return SettingUp(self.kernel)


def _parts(disk: DiskSpec, below: Below) -> Below:
    if len(below) != 2:
        raise BlockDeviceError(f"{disk.dev_type} disk {disk.uuid} is made of two volumes, not of {len(below)}")
    return below


def register(parts: StorageParts) -> StorageKind:
    """See `kinds.Register`."""
    return StorageKind([DrbdMirrors(word.value, Kernel(parts.runner), parts.clock) for word in driven_by("drbd")])
