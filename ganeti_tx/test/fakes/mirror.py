"""Mirrors between two simulated nodes: what DRBD does, upon whatever devices are below.

A mirror's data are on its first child, its notes on the second. The state of a synchronisation is worked out from the clock when
somebody asks, so nothing runs by itself.
"""

from collections.abc import Sequence
from typing import Any

from attrs import define, field
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec, MirrorEnds
from ganeti_tx.model.mirror_state import MirrorState
from ganeti_tx.model.status import BlockDevStatus, LocalDiskStatus
from ganeti_tx.node.storage.abilities import IMirror, IMirrorModule, MirrorModule
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.test.fakes.devices import DeviceNodes, FakeDisk, MirrorNotes
from ganeti_tx.test.fakes.mirror_wire import FIRST, MAJOR, MirrorDevice, MirrorWire


@implementer(IStorage, IMirror, IMirrorModule)
@define
class FakeMirrors:
    """The mirrors of one node; the template's name is that for which it stands in."""

    devices: DeviceNodes
    wire: MirrorWire
    template: str = "drbd"
    up: dict[int, MirrorDevice] = field(factory=dict)
    #: What the module tells of itself, or why it cannot be used.
    version: str = "8.4.11"
    helper: str = "/bin/true"
    fault: str = ""

    async def module(self) -> MirrorModule:
        """See `IMirrorModule`."""
        if self.fault:
            raise BlockDeviceError(self.fault)
        return MirrorModule(self.version, self.helper, sorted(self.up))

    async def all_down(self) -> list[str]:
        """See `IMirrorModule`."""
        faults = []
        for device in list(self.up.values()):
            try:
                self.devices.refuse_used(self._path(device))
                self._take_down(device)
            except BlockDeviceError as error:
                faults.append(str(error))
        return faults

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`: the volumes get fresh notes, whatever they had."""
        if disk.size <= 0 or len(below) != 2:
            raise BlockDeviceError(f"{self._label(disk)} cannot have {disk.size} MiB on {len(below)} volumes")
        if disk.size > below[0].size:
            raise BlockDeviceError(f"{self._label(disk)} does not fit: {below[0].dev_path} has {below[0].size} MiB")
        if self._taken_over(disk, below) is not None:
            raise BlockDeviceError(f"{self._label(disk)} exists")
        self.devices.behind[below[1].dev_path].notes = MirrorNotes(disk.size)

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`: it is nothing but what it was made of."""
        self._ends(disk)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`: to what the volumes on both sides have room for."""
        device = self._device(disk)
        if amount < 0:
            raise BlockDeviceError(f"{self._label(disk)} cannot shrink: {amount} MiB to add")
        if dry_run:
            return
        other = self.wire.peer(device)
        if other is None:
            raise BlockDeviceError(f"{self._label(disk)} cannot grow before both sides are connected")
        for side in (device, other):
            if side.notes is not None:
                side.notes.size += amount
            side.size += amount

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        raise BlockDeviceError(f"{self._label(disk)} cannot be renamed: nothing on this node has its name")

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`."""
        device, fresh = self._taken_over(disk, below), False
        if below and self.devices.behind[below[1].dev_path].notes is None:  # never a mirror's: as good as none
            below = ()
        if device is None:
            device, fresh = self._bring_up(disk, below), True
        else:
            self.wire.move(device, self._ends(disk))
            if device.data is None and below:
                self._hold(device, below)
        try:
            if primary:
                await self.become_primary(disk)
            if device.data is None and not self._has_good_peer(device):
                raise BlockDeviceError(f"{self._label(disk)} has neither a part here nor good data on the other side")
        except BlockDeviceError:
            if fresh:
                self._take_down(device)
            raise
        return self._status(device)

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`: what has its minor by now and is another disk's, by its port, stays."""
        ends = self._ends(disk)
        device = self.up.get(ends.local_minor)
        if device is not None and device.ends.port == ends.port:
            self.devices.refuse_used(self._path(device))
            self._take_down(device)

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`."""
        return self._ends(disk).local_minor in self.up

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`: one that is not up is there if its volumes are."""
        minor = self._ends(disk).local_minor
        if (device := self.up.get(minor)) is not None:
            return self._status(device)
        data, *_ = below or [None]
        if data is None or len(below) != len(disk.children) or None in below:
            return None
        return BlockDevStatus(
            dev_path=f"/dev/drbd{minor}", size=data.size, is_degraded=True, ldisk_status=LocalDiskStatus.UNKNOWN
        )

    def data_children(self, disk: DiskSpec) -> Sequence[DiskSpec]:
        """See `IMirror`."""
        return disk.children[:1]

    async def become_primary(self, disk: DiskSpec, exclusive: bool = True) -> None:
        """See `IMirror`: of two sides that were never filled the first to be primary has the data."""
        device = self._device(disk)
        if device.primary:
            return
        self.wire.advance(device)
        other = self.wire.peer(device)
        if other is not None and other.primary and (exclusive or not (device.both_primary and other.both_primary)):
            raise BlockDeviceError(f"{self._label(disk)}: the other side is primary")
        if device.notes is not None and not device.is_good and other is not None and not self._is_filled(device, other):
            device.notes.generations, device.notes.good = (self.wire.next_generation(),), True
        if not device.is_good and not self._has_good_peer(device):
            raise BlockDeviceError(f"{self._label(disk)}: the data here are not up to date")
        if other is None and device.notes is not None:
            device.notes.generations += (self.wire.next_generation(),)
        device.primary = True
        self.wire.advance(device)

    async def become_secondary(self, disk: DiskSpec) -> None:
        """See `IMirror`."""
        device = self._device(disk)
        self.devices.refuse_used(self._path(device))
        device.primary = False

    async def disconnect(self, disk: DiskSpec) -> None:
        """See `IMirror`."""
        device = self._device(disk)
        self.wire.advance(device)
        device.wants_peer = device.both_primary = False

    async def connect(self, disk: DiskSpec, both_primary: bool, discard: bool = False) -> None:
        """See `IMirror`."""
        device = self._device(disk)
        if discard and device.primary:
            raise BlockDeviceError(f"{self._label(disk)} is primary")
        device.discards = discard
        self.wire.move(device, self._ends(disk))
        device.wants_peer, device.both_primary = True, both_primary
        device.seen_at = self.wire.now()
        self.wire.advance(device)

    async def pause_sync(self, disk: DiskSpec, pause: bool) -> None:
        """See `IMirror`."""
        device = self._device(disk)
        self.wire.advance(device)
        device.paused = pause

    async def attach_children(self, disk: DiskSpec, below: Below) -> None:
        """See `IMirror`: whatever a volume was before, its notes are not believed."""
        device = self._device(disk)
        if device.data is not None:
            raise BlockDeviceError(f"{self._label(disk)} has a part here already")
        if not self._has_good_peer(device):
            raise BlockDeviceError(f"{self._label(disk)} cannot be filled: the other side has no good data")
        self.devices.behind[below[1].dev_path].notes = MirrorNotes(device.size)
        self._hold(device, below)
        self.wire.advance(device)

    async def detach_children(self, disk: DiskSpec) -> None:
        """See `IMirror`."""
        device = self._device(disk)
        if device.data is None:
            return
        if not self._has_good_peer(device):
            raise BlockDeviceError(f"{self._label(disk)} has the last good copy here")
        self._release(device)

    def write(self, disk: DiskSpec, content: str) -> None:
        """What an instance writes. @raise BlockDeviceError: it may not."""
        device = self._device(disk)
        if not device.primary:
            raise BlockDeviceError(f"{self._label(disk)} is not primary here")
        self.wire.advance(device)
        good = [side for side in (device, self.wire.peer(device)) if side is not None and side.is_good]
        for side in good:
            assert side.data is not None and side.notes is not None
            side.data.content = content
            if len(good) == 1:
                side.notes.generations += (self.wire.next_generation(),)

    def read(self, disk: DiskSpec) -> str:
        """What an instance reads: from the other side, if the data here are not good."""
        device = self._device(disk)
        self.wire.advance(device)
        other = self.wire.peer(device)
        side = device if device.is_good or other is None else other
        if side.data is None or not side.is_good:
            raise BlockDeviceError(f"{self._label(disk)} has no data")
        return side.data.content

    def lose_part(self, disk: DiskSpec) -> None:
        """A volume answers with errors: the device goes on without, and nobody ever reads from it again."""
        device = self._device(disk)
        self.wire.advance(device)
        for path in device.paths:
            self.devices.behind[path].notes = None
        self._release(device)

    def behind(self, path: str) -> FakeDisk | None:
        """What holds the data of the device at a path, if it is up, primary and has some."""
        for device in self.up.values():
            if self._path(device) == path and device.primary:
                return device.data
        return None

    def lose_power(self) -> None:
        """No device is up any more; what is on the volumes stays."""
        for device in self.up.values():
            self.wire.advance(device)
            self.wire.devices.pop(device.end, None)
        self.up.clear()

    def _taken_over(self, disk: DiskSpec, below: Below) -> MirrorDevice | None:
        """The device that has the minor, if it is the disk's; another is taken down, unless somebody has it open."""
        device = self.up.get(self._ends(disk).local_minor)
        if device is not None and below and device.paths and device.paths != [each.dev_path for each in below]:
            self.devices.refuse_used(self._path(device))
            self._take_down(device)
            return None
        return device

    def _bring_up(self, disk: DiskSpec, below: Below) -> MirrorDevice:
        ends = self._ends(disk)
        secret = str((disk.logical_id or [""])[-1])
        device = MirrorDevice(ends, secret, [], None, None, disk.size, seen_at=self.wire.now())
        if below:
            self._hold(device, below)
        self.up[ends.local_minor] = self.wire.devices[device.end] = device
        self.devices.appear(self._path(device), FakeDisk(device.size))
        self.wire.advance(device)
        return device

    def _take_down(self, device: MirrorDevice) -> None:
        self.wire.advance(device)
        self._release(device)
        del self.up[device.ends.local_minor], self.wire.devices[device.end]
        self.devices.vanish(self._path(device))

    def _hold(self, device: MirrorDevice, below: Below) -> None:
        device.paths = [each.dev_path for each in below]
        device.data, meta = (self.devices.open(path, self._path(device)) for path in device.paths)
        assert meta.notes is not None
        device.notes, device.size = meta.notes, meta.notes.size
        device.seen_at = self.wire.now()

    def _release(self, device: MirrorDevice) -> None:
        for path in device.paths:
            self.devices.close(path, self._path(device))
        device.paths, device.data, device.notes = [], None, None

    def _has_good_peer(self, device: MirrorDevice) -> bool:
        self.wire.advance(device)
        other = self.wire.peer(device)
        return other is not None and other.is_good

    def _is_filled(self, one: MirrorDevice, other: MirrorDevice) -> bool:
        return any(side.notes is None or side.notes.generations for side in (one, other))

    def _status(self, device: MirrorDevice) -> BlockDevStatus:
        self.wire.advance(device)
        other = self.wire.peer(device)
        target = self.wire.target(device, other) if other is not None else None
        percent = None
        if target is not None and target.notes is not None:
            percent = 100 * target.notes.synced / target.size
        left = None if target is None or target.notes is None else (target.size - target.notes.synced) / self.wire.rate
        return BlockDevStatus(
            dev_path=self._path(device),
            size=device.size,
            major=MAJOR,
            minor=device.ends.local_minor,
            sync_percent=percent,
            estimated_time=left,
            is_degraded=not (device.is_good and other is not None and other.is_good),
            ldisk_status=self._local(device, target),
            mirror=self._apart(device, other) if target is None else None,
        )

    def _apart(self, device: MirrorDevice, other: MirrorDevice | None) -> MirrorState | None:
        if device.is_good and other is not None and other.is_good:
            return None
        numbers = [] if device.notes is None else [each + FIRST << 1 for each in reversed(device.notes.generations)]
        return MirrorState(
            connection="Connected" if other is not None else "Connecting" if device.wants_peer else "StandAlone",
            disk=self._own_part(device),
            peer_disk="DUnknown" if other is None else self._own_part(other),
            generations=[f"{each:016X}" for each in numbers],
        )

    @staticmethod
    def _own_part(device: MirrorDevice) -> str:
        """In DRBD's words."""
        return "Diskless" if device.notes is None else "UpToDate" if device.is_good else "Inconsistent"

    def _local(self, device: MirrorDevice, target: MirrorDevice | None) -> LocalDiskStatus:
        if device.notes is None:
            return LocalDiskStatus.FAULTY
        if device.is_good:
            return LocalDiskStatus.OK
        return LocalDiskStatus.SYNC if target is device else LocalDiskStatus.UNKNOWN

    def _path(self, device: MirrorDevice) -> str:
        return f"/dev/drbd{device.ends.local_minor}"

    def _ends(self, disk: DiskSpec) -> MirrorEnds:
        if disk.ends is None or not disk.logical_id:
            raise BlockDeviceError(f"{self._label(disk)} has no end on this node")
        return disk.ends

    def _device(self, disk: DiskSpec) -> MirrorDevice:
        device = self.up.get(self._ends(disk).local_minor)
        if device is None:
            raise BlockDeviceError(f"{self._label(disk)} is not assembled")
        return device

    def _label(self, disk: DiskSpec) -> str:
        minor = "" if disk.ends is None else f" (minor {disk.ends.local_minor})"
        return f"{self.template} disk {disk.uuid}{minor}"
