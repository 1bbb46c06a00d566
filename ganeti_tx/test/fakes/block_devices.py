"""Block devices that are there already, in memory; give several nodes one `disks` and all of them see the same."""

from typing import Any

from attrs import define
from msgspec.structs import replace
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import IExisting
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.test.fakes.storage import FakeStorage


@implementer(IStorage, IExisting)
@define
class FakeBlockDevices(FakeStorage):
    """As the driver does, it makes, changes and removes nothing."""

    template: str = "blockdev"

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`."""
        self._begin("create", disk)
        if not 0 < disk.size <= (found := self.get(disk)).size:
            raise BlockDeviceError(f"{self._label(disk)} cannot have {disk.size} MiB; the device has {found.size}")

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        self._begin("remove", disk)
        self._key(disk.logical_id)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        raise BlockDeviceError(f"{self._label(disk)} cannot grow")

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        raise BlockDeviceError(f"{self._label(disk)} cannot be renamed")

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        self._begin("shutdown", disk)
        self._key(disk.logical_id)

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`."""
        self._begin("assemble", disk)
        self.devices.appear(self._path(disk), self.get(disk))
        return self._status(disk)

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`."""
        return await self.find(disk) is not None

    def _status(self, disk: DiskSpec) -> BlockDevStatus:
        """It has one number, whatever it is called."""
        found = self.get(disk)
        number = next(place for place, each in enumerate(self.disks.values()) if each is found)
        return replace(super()._status(disk), major=8, minor=number)
