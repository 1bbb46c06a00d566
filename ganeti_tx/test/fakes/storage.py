"""Disks that live in memory."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_template import QCOW2
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.snapshots import snapshot_id
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.model.storage_unit import UnitState
from ganeti_tx.node.storage.abilities import ExistingDevice, IExisting, IMaySnapshot, ISnapshot
from ganeti_tx.node.storage.interfaces import Below, IPools, IStorage, PoolSpace
from ganeti_tx.node.storage.kinds import NodeStorage, StorageKind, together
from ganeti_tx.node.storage.pool_abilities import IUnits
from ganeti_tx.node.storage.tree import DeviceTree, no_snapshot
from ganeti_tx.test.fakes.devices import DeviceNodes, FakeDisk

__all__ = ["FakeDisk", "FakePools", "FakeStorage", "Fault", "alone", "only"]

#: Asked before each operation with its name and the disk; gives the error to fail with, if any.
Fault = Callable[[str, DiskSpec], Exception | None]


@implementer(IStorage, IExisting, ISnapshot, IMaySnapshot)
@define
class FakeStorage:
    """One template on one node. Give several nodes one `disks` and the template is a shared one.

    A disk upon another has its room and its content there. Only images have snapshots.
    """

    template: str = "file"
    disks: dict[str, FakeDisk] = field(factory=dict)
    total: int = 1 << 20  # MiB
    fault: Fault | None = None
    devices: DeviceNodes = field(factory=DeviceNodes)

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`."""
        self._begin("create", disk)
        if disk.size <= 0:
            raise BlockDeviceError(f"{self._label(disk)} cannot have {disk.size} MiB")
        if not below:
            self._claim(disk.logical_id, FakeDisk(disk.size))
            return
        if disk.size > below[0].size:
            raise BlockDeviceError(f"{self._label(disk)} does not fit: {below[0].dev_path} has {below[0].size} MiB")
        self._claim(disk.logical_id, FakeDisk(disk.size, under=below[0].dev_path))

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        self._begin("remove", disk)
        self.devices.refuse_used(self._path(disk))
        self.disks.pop(self._key(disk.logical_id), None)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        self._begin("grow", disk)
        found = self.get(disk)
        if amount < 0:
            raise BlockDeviceError(f"{self._label(disk)} cannot shrink: {amount} MiB to add")
        self._need_room(0 if found.under else amount)
        if not dry_run:
            found.size += amount

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        self._begin("rename", disk)
        found = self.get(disk)
        self._claim(logical_id, found, moved=True)
        del self.disks[self._key(disk.logical_id)]

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`."""
        self._begin("assemble", disk)
        found = self.get(disk)
        behind = self.devices.open(found.under, self._path(disk)) if found.under else found
        self.devices.appear(self._path(disk), behind)
        found.assembled = True
        return self._status(disk)

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        self._begin("shutdown", disk)
        path = self._path(disk)
        self.devices.vanish(path)
        if (found := self.disks.get(self._key(disk.logical_id))) is not None:
            found.assembled = False
            if found.under:
                self.devices.close(found.under, path)

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`."""
        return self._key(disk.logical_id) in self.disks and self.get(disk).assembled

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`."""
        self._begin("find", disk)
        return self._status(disk) if self._key(disk.logical_id) in self.disks else None

    async def snapshot(self, disk: DiskSpec, name: str, size: int) -> list[Any]:
        """See `ISnapshot`."""
        self._begin("snapshot", disk)
        if (fault := await self.snapshot_fault(disk)) is not None:
            raise BlockDeviceError(fault)
        found = self.get(disk)
        made = snapshot_id(disk.logical_id or ["", ""], name)
        self._claim(made, FakeDisk(found.size, content=self.bottom(found).content))
        return made

    async def snapshot_fault(self, disk: DiskSpec) -> str | None:
        """See `IMaySnapshot`."""
        return None if disk.format == QCOW2 else no_snapshot(disk)

    def bottom(self, disk: FakeDisk) -> FakeDisk:
        """That which holds the content."""
        return self.devices.behind.get(disk.under, disk) if disk.under else disk

    async def existing(self, place: str) -> Sequence[ExistingDevice]:
        """See `IExisting`."""
        return [
            ExistingDevice(
                [kind, f"/{path}"], disk.size, False, next(name for name, it in self.disks.items() if it is disk)
            )
            for key, disk in sorted(self.disks.items())
            for kind, _, path in (key.partition("//"),)
            if f"/{path}".startswith(f"{place}/")
        ]

    def free(self) -> int:
        """The room that is left, in MiB."""
        return self.total - sum(each.size for each in self.disks.values() if not each.under)

    def _begin(self, operation: str, disk: DiskSpec) -> None:
        if self.fault is not None and (error := self.fault(operation, disk)) is not None:
            raise error

    def _key(self, logical_id: list[Any] | None) -> str:
        if not logical_id:
            raise BlockDeviceError(f"a {self.template} disk needs a logical id, not {logical_id!r}")
        return "/".join(map(str, logical_id))

    def get(self, disk: DiskSpec) -> FakeDisk:
        """A disk. @raise BlockDeviceError: there is no such."""
        found = self.disks.get(self._key(disk.logical_id))
        if found is None:
            raise BlockDeviceError(f"{self._label(disk)} does not exist")
        return found

    def _claim(self, logical_id: list[Any] | None, disk: FakeDisk, moved: bool = False) -> None:
        key = self._key(logical_id)
        if key in self.disks:
            raise BlockDeviceError(f"{self.template} disk {key}: File exists")
        self._need_room(0 if moved or disk.under else disk.size)
        self.disks[key] = disk

    def _need_room(self, amount: int) -> None:
        if amount > self.free():
            raise BlockDeviceError(f"{self.template}: {amount} MiB wanted, {self.free()} MiB free")

    def _path(self, disk: DiskSpec) -> str:
        named = disk.logical_id[-1] if disk.logical_id else ""
        return str(named) if str(named).startswith("/") else f"/dev/{self._key(disk.logical_id)}"

    def _status(self, disk: DiskSpec) -> BlockDevStatus:
        found = self.get(disk)
        return BlockDevStatus(dev_path=self._path(disk), size=found.size, ldisk_status=found.health)

    def _label(self, disk: DiskSpec) -> str:
        return f"{self.template} disk {self._key(disk.logical_id)}"


@implementer(IPools, IUnits)
@define
class FakePools:
    """One pool, whatever its name: that of a storage in memory."""

    storage: FakeStorage

    async def space(self, name: str, params: Mapping[str, Any]) -> PoolSpace:
        """See `IPools`."""
        return PoolSpace(size=self.storage.total, free=self.storage.free())

    async def units(self, places: Sequence[str]) -> Sequence[UnitState]:
        """See `IUnits`."""
        free = self.storage.free()
        return [
            UnitState(name=place, size=self.storage.total, used=self.storage.total - free, free=free)
            for place in places
        ]

    async def fault(self, name: str) -> str | None:
        """See `IPools`: what a disk in it would meet."""
        disk = DiskSpec(uuid="", dev_type=self.storage.template, size=1, logical_id=["loop", f"{name}/disk"])
        error = None if self.storage.fault is None else self.storage.fault("create", disk)
        return None if error is None else str(error)


def alone(*storages: IStorage) -> NodeStorage:
    """A node with these storages only."""
    return together([StorageKind(storages)])


def only(*storages: IStorage) -> DeviceTree:
    """The disks of a node with these storages only."""
    return DeviceTree(alone(*storages))
