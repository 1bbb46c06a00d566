"""The template `blockdev`: devices below /dev/disk, under names that the administrator's udev rules give on all nodes."""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn, ParamSpec, TypeVar

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_templates import TEMPLATES, driven_by
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import ExistingDevice, IExisting
from ganeti_tx.node.storage.device import is_used, look_at
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.node.storage.kinds import StorageKind, StorageParts
from ganeti_tx.runtime.threads import IThreads

P = ParamSpec("P")
T = TypeVar("T")

#: Devices that are listed.
MAX_EXISTING = 10_000


@implementer(IStorage, IExisting)
@frozen
class BlockDevices:
    """Devices below `directory`; a disk's logical id is ["manual", path]. Their data outlive their instances."""

    template: str
    directory: Path
    threads: IThreads

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`: nothing is made, but the device must be there, and as large as the disk."""
        status = await self._found(disk)
        if not 0 < disk.size <= status.size:
            raise BlockDeviceError(f"{self._label(disk)} cannot have {disk.size} MiB; the device has {status.size}")

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`: the device stays, with what is on it."""
        self._path(disk.logical_id)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        self._refuse(disk, "grow")

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        self._refuse(disk, "be renamed")

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`: it is ready if it is there."""
        return await self._found(disk)

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`: nothing was done that could be undone."""
        self._path(disk.logical_id)

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`."""
        return await self.find(disk) is not None

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`."""
        path = self._path(disk.logical_id)
        found = await self._run(path, look_at, path)
        if found is None:
            return None
        if found.number is None:
            raise BlockDeviceError(f"{self._label(disk)} is not a block device")
        major, minor = found.number
        return BlockDevStatus(dev_path=path, size=found.size, major=major, minor=minor)

    async def existing(self, place: str) -> Sequence[ExistingDevice]:
        """See `IExisting`: all names that lead to a block device; one has several."""
        if not PurePosixPath(place).is_relative_to(self.directory) or ".." in PurePosixPath(place).parts:
            raise BlockDeviceError(f"no block devices are adopted from {place!r}; allowed is {self.directory}")
        return await self._run(place, self._existing, place)

    def _existing(self, place: str) -> list[ExistingDevice]:
        return list(islice(devices_below(place), MAX_EXISTING))

    async def _found(self, disk: DiskSpec) -> BlockDevStatus:
        status = await self.find(disk)
        if status is None:
            raise BlockDeviceError(f"{self._label(disk)} does not exist on this node")
        return status

    def _path(self, logical_id: list[Any] | None) -> str:
        if logical_id is None or len(logical_id) != 2 or not isinstance(logical_id[1], str):
            raise BlockDeviceError(f'the logical id of a {self.template} disk is ["manual", path], not {logical_id!r}')
        path = Path(logical_id[1])
        if self.directory not in path.parents or ".." in path.parts or "\0" in logical_id[1]:
            raise BlockDeviceError(f"{self.template} disk {logical_id[1]!r} is not below {self.directory}")
        return str(path)

    def _refuse(self, disk: DiskSpec, what: str) -> NoReturn:
        self._path(disk.logical_id)
        raise BlockDeviceError(f"{self._label(disk)} cannot {what}: what is adopted stays as it is")

    def _label(self, disk: DiskSpec) -> str:
        return f"{self.template} disk {disk.logical_id[-1] if disk.logical_id else disk.uuid}"

    async def _run(self, path: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await self.threads.run(work, *args, **kwargs)
        except OSError as error:
            raise BlockDeviceError(f"{self.template} disk {path}: {error.strerror}")


def devices_below(place: str) -> Iterator[ExistingDevice]:
    """The block devices of a directory and those in it; names that lead nowhere, or elsewhere, are left out."""
    for directory, inner, names in os.walk(place):
        inner.sort()
        for path in (f"{directory}/{name}" for name in sorted(names)):
            try:
                found = look_at(path)
            except OSError:
                continue
            if found is not None and found.number is not None:
                major, minor = found.number
                yield ExistingDevice(["manual", path], found.size, is_used(path), f"{major}:{minor}")


def register(parts: StorageParts) -> StorageKind:
    """See `kinds.Register`."""
    words = driven_by("blockdev")
    return StorageKind(
        [BlockDevices(word.value, Path(TEMPLATES[word].adoptable or "/"), parts.threads) for word in words]
    )
