"""Disks that live in memory."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.interfaces import DeviceStatus, ISpace, IStorage

#: Asked before each operation with its name and the disk; gives the error to fail with, if any.
Fault = Callable[[str, DiskSpec], BlockDeviceError | None]


@define
class FakeDisk:
    """One disk: its size in MiB, and whether it is assembled on the node whose storage it is."""

    size: int
    assembled: bool = False


@implementer(IStorage, ISpace)
@define
class FakeStorage:
    """One template on one node. Give several nodes one `disks` and the template is a shared one."""

    template: str = "file"
    disks: dict[str, FakeDisk] = field(factory=dict)
    total: int = 1 << 20  # MiB
    fault: Fault | None = None

    async def create(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        self._begin("create", disk)
        if disk.size <= 0:
            raise BlockDeviceError(f"{self._label(disk)} cannot have {disk.size} MiB")
        self._claim(disk.logical_id, disk.size)

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        self._begin("remove", disk)
        self.disks.pop(self._key(disk.logical_id), None)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        self._begin("grow", disk)
        found = self._get(disk)
        if amount < 0:
            raise BlockDeviceError(f"{self._label(disk)} cannot shrink: {amount} MiB to add")
        self._need_room(amount)
        if not dry_run:
            found.size += amount

    async def size(self, disk: DiskSpec) -> int:
        """See `IStorage`."""
        self._begin("size", disk)
        return self._get(disk).size

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        self._begin("rename", disk)
        found = self._get(disk)
        self._claim(logical_id, 0)
        self.disks[self._key(logical_id)] = found
        del self.disks[self._key(disk.logical_id)]

    async def assemble(self, disk: DiskSpec, primary: bool = True) -> DeviceStatus:
        """See `IStorage`."""
        self._begin("assemble", disk)
        self._get(disk).assembled = True
        return self._status(disk)

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        self._begin("shutdown", disk)
        if (found := self.disks.get(self._key(disk.logical_id))) is not None:
            found.assembled = False

    async def find(self, disk: DiskSpec) -> DeviceStatus | None:
        """See `IStorage`."""
        self._begin("find", disk)
        return self._status(disk) if self._key(disk.logical_id) in self.disks else None

    async def space(self, name: str, params: Mapping[str, Any]) -> Mapping[str, int]:
        """See `ISpace`: one pool, whatever its name."""
        return {"storage_size": self.total, "storage_free": self._free()}

    def _begin(self, operation: str, disk: DiskSpec) -> None:
        if self.fault is not None and (error := self.fault(operation, disk)) is not None:
            raise error

    def _key(self, logical_id: list[Any] | None) -> str:
        if not logical_id:
            raise BlockDeviceError(f"a {self.template} disk needs a logical id, not {logical_id!r}")
        return "/".join(map(str, logical_id))

    def _get(self, disk: DiskSpec) -> FakeDisk:
        found = self.disks.get(self._key(disk.logical_id))
        if found is None:
            raise BlockDeviceError(f"{self._label(disk)} does not exist")
        return found

    def _claim(self, logical_id: list[Any] | None, size: int) -> None:
        key = self._key(logical_id)
        if key in self.disks:
            raise BlockDeviceError(f"{self.template} disk {key}: File exists")
        self._need_room(size)
        self.disks[key] = FakeDisk(size)

    def _free(self) -> int:
        return self.total - sum(each.size for each in self.disks.values())

    def _need_room(self, amount: int) -> None:
        if amount > self._free():
            raise BlockDeviceError(f"{self.template}: {amount} MiB wanted, {self._free()} MiB free")

    def _status(self, disk: DiskSpec) -> DeviceStatus:
        named = disk.logical_id[-1] if disk.logical_id else ""
        path = str(named) if str(named).startswith("/") else f"/dev/fake/{self._key(disk.logical_id)}"
        return DeviceStatus(dev_path=path, size=self._get(disk).size)

    def _label(self, disk: DiskSpec) -> str:
        return f"{self.template} disk {self._key(disk.logical_id)}"
