"""Disks that are raw files: the templates `file` and `sharedfile`."""

import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError, FileStoragePathError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.interfaces import DeviceStatus, ISpace, IStorage
from ganeti_tx.runtime.threads import IThreads

P = ParamSpec("P")
T = TypeVar("T")

MIB = 1 << 20
FILE_MODE = 0o600
DIRECTORY_MODE = 0o750

#: Largest disk: a file's size is a signed 64-bit number of bytes.
MAX_MIB = (1 << 43) - 1


@implementer(IStorage, ISpace)
@frozen
class FileStorage:
    """Sparse files below the allowed directories; a disk's logical id is [driver, path].

    The instance's directory comes with its first disk and goes with its last.
    """

    template: str
    allowed: AllowedPaths
    threads: IThreads

    async def create(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        await self._run(disk, self._create, disk)

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        await self._run(disk, self._remove, disk)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        await self._run(disk, self._grow, disk, amount, dry_run)

    async def size(self, disk: DiskSpec) -> int:
        """See `IStorage`."""
        return (await self.assemble(disk)).size

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        await self._run(disk, self._rename, disk, logical_id)

    async def assemble(self, disk: DiskSpec, primary: bool = True) -> DeviceStatus:
        """See `IStorage`: a file is always ready, if it is there."""
        status = await self.find(disk)
        if status is None:
            raise BlockDeviceError(f"{self._label(disk)} does not exist")
        return status

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`: nothing was done that could be undone, but the path must be allowed."""
        await self._run(disk, self._path, disk.logical_id)

    async def find(self, disk: DiskSpec) -> DeviceStatus | None:
        """See `IStorage`."""
        return await self._run(disk, self._find, disk)

    async def space(self, name: str, params: Mapping[str, Any]) -> Mapping[str, int]:
        """See `ISpace`: of the file system that has the directory `name`, or will have it once there is a disk."""
        try:
            return await self.threads.run(self._space, name)
        except FileStoragePathError as error:
            raise BlockDeviceError(str(error))
        except OSError as error:
            raise BlockDeviceError(f"cannot tell the room in {name!r}: {error.strerror}")

    def _create(self, disk: DiskSpec) -> None:
        if not 0 < disk.size <= MAX_MIB:
            raise BlockDeviceError(f"{self._label(disk)} cannot have {disk.size} MiB; allowed: 1 to {MAX_MIB}")
        path = self._path(disk.logical_id)
        self._reserve(path)
        try:
            os.truncate(path, disk.size * MIB)
        except OSError:
            self._discard(path)
            raise

    def _remove(self, disk: DiskSpec) -> None:
        path = self._path(disk.logical_id)
        if not os.path.lexists(path) or self._is_ours(disk, path):
            self._discard(path)

    def _grow(self, disk: DiskSpec, amount: int, dry_run: bool) -> None:
        path = self._path(disk.logical_id)
        if amount < 0:
            raise BlockDeviceError(f"{self._label(disk)} cannot shrink: {amount} MiB to add")
        self._is_ours(disk, path)
        bytes_wanted = path.stat().st_size + amount * MIB
        if bytes_wanted > MAX_MIB * MIB:
            raise BlockDeviceError(
                f"{self._label(disk)} cannot grow by {amount} MiB; the most it can have is {MAX_MIB}"
            )
        if not dry_run:
            os.truncate(path, bytes_wanted)

    def _rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        source, target = self._path(disk.logical_id), self._path(logical_id)
        self._is_ours(disk, source)
        self._reserve(target)
        try:
            os.rename(source, target)
        except OSError:
            self._discard(target)
            raise
        self._leave(source.parent)

    def _find(self, disk: DiskSpec) -> DeviceStatus | None:
        path = self._path(disk.logical_id)
        try:
            self._is_ours(disk, path)
            return DeviceStatus(dev_path=str(path), size=path.stat().st_size // MIB)
        except FileNotFoundError:
            return None

    def _space(self, name: str) -> Mapping[str, int]:
        directory = self.allowed.check_directory(name)
        while not directory.exists() and directory != directory.parent:
            directory = directory.parent
        room = os.statvfs(directory)
        return {
            "storage_size": room.f_blocks * room.f_frsize // MIB,
            "storage_free": room.f_bavail * room.f_frsize // MIB,
        }

    def _path(self, logical_id: list[Any] | None) -> Path:
        if logical_id is None or len(logical_id) != 2 or not isinstance(logical_id[1], str):
            raise FileStoragePathError(
                f"the logical id of a {self.template} disk is [driver, path], not {logical_id!r}"
            )
        return self.allowed.check(logical_id[1])

    def _reserve(self, path: Path) -> None:
        """Make the file and its directory; the name is ours or it is an error, even when two ask at once."""
        path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE))
        except FileExistsError:
            raise
        except OSError:
            self._leave(path.parent)
            raise

    def _discard(self, path: Path) -> None:
        with suppress(FileNotFoundError):
            path.unlink()
        self._leave(path.parent)

    def _leave(self, directory: Path) -> None:
        """Remove an instance's directory when it is empty; a listed directory stays."""
        if directory not in self.allowed.directories():
            with suppress(OSError):  # it has other disks, or is gone already
                directory.rmdir()

    def _is_ours(self, disk: DiskSpec, path: Path) -> bool:
        """A link or a directory in a disk's place is a trick or a mistake, never a disk."""
        if not stat.S_ISREG(path.lstat().st_mode):
            raise BlockDeviceError(f"{self._label(disk)} is not a regular file")
        return True

    def _label(self, disk: DiskSpec) -> str:
        path = disk.logical_id[1] if disk.logical_id and len(disk.logical_id) == 2 else disk.logical_id
        return f"{self.template} disk {path}"

    async def _run(self, disk: DiskSpec, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await self.threads.run(work, *args, **kwargs)
        except OSError as error:
            raise BlockDeviceError(f"{self._label(disk)}: {error.strerror}")
