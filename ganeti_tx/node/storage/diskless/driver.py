"""The template `diskless`: an instance without disks."""

from collections.abc import Sequence
from typing import Any, NoReturn

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.node.storage.kinds import StorageKind, StorageParts


@implementer(IStorage)
@frozen
class Diskless:
    """Has no disks, so whoever asks for one has made a mistake."""

    template: str = "diskless"

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`."""
        self._refuse(disk)

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        self._refuse(disk)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        self._refuse(disk)

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        self._refuse(disk)

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`."""
        self._refuse(disk)

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        self._refuse(disk)

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`."""
        self._refuse(disk)

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`."""
        self._refuse(disk)

    def _refuse(self, disk: DiskSpec) -> NoReturn:
        raise BlockDeviceError(f"disk {disk.uuid}: the disk template diskless has no disks")


def register(parts: StorageParts) -> StorageKind:
    """See `kinds.Register`."""
    return StorageKind([Diskless()])
