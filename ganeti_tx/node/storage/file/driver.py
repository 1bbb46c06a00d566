"""Disks that are raw files: the templates `file` and `sharedfile`."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError, FileStoragePathError
from ganeti_tx.model.disk_templates import TEMPLATES, driven_by
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import ExistingDevice, IExisting
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.beneath import Place, directories
from ganeti_tx.node.storage.file.pools import MIB, DirectoryPools
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.node.storage.kinds import StorageKind, StorageParts
from ganeti_tx.runtime.threads import IThreads

P = ParamSpec("P")
T = TypeVar("T")

FILE_MODE = 0o600
MAKING = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
#: A pipe in the file's place holds nobody up.
WRITING = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

#: Files that are listed of one pool.
MAX_EXISTING = 10_000
#: Largest disk: a file's size is a signed 64-bit number of bytes.
MAX_MIB = (1 << 43) - 1


@implementer(IStorage, IExisting)
@frozen
class FileStorage:
    """Sparse files below the allowed directories; a disk's logical id is [driver, path].

    The instance's directory comes with its first disk and goes with its last.
    """

    template: str
    allowed: AllowedPaths
    threads: IThreads

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`."""
        await self._run(disk, self._create, disk)

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        await self._run(disk, self._remove, disk)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        await self._run(disk, self._grow, disk, amount, dry_run)

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        await self._run(disk, self._rename, disk, logical_id)

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`: a file is always ready, if it is there."""
        status = await self.find(disk)
        if status is None:
            raise BlockDeviceError(f"{self._label(disk)} does not exist")
        return status

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`: nothing was done that could be undone, but the path must be allowed."""
        await self._run(disk, self._place, disk.logical_id)

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`: as soon as it is there."""
        return await self.find(disk) is not None

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`."""
        return await self._run(disk, self._find, disk)

    async def existing(self, place: str) -> Sequence[ExistingDevice]:
        """See `IExisting`: regular files in a directory and in those of instances below it; links are not followed."""
        try:
            return await self.threads.run(self._existing, place)
        except FileNotFoundError:  # it comes with the first disk
            return []
        except OSError as error:
            raise BlockDeviceError(f"cannot list {place!r}: {error.strerror}")

    def _existing(self, place: str) -> list[ExistingDevice]:
        where = self.allowed.place(f"{place.rstrip('/')}/x")
        with directories(where.top, where.below) as way:
            return list(islice(self._listed(way[-1], where.plain.parent, deeper=True), MAX_EXISTING))

    def _listed(self, descriptor: int, path: Path, deeper: bool = False) -> Iterator[ExistingDevice]:
        """The files of a directory and, with `deeper`, of those in it."""
        for entry in sorted(os.scandir(descriptor), key=lambda entry: entry.name):
            if entry.is_file(follow_symlinks=False):
                size = entry.stat(follow_symlinks=False).st_size // MIB
                yield ExistingDevice(["loop", str(path / entry.name)], size, in_use=False)
            elif deeper and entry.is_dir(follow_symlinks=False):
                with suppress(FileStoragePathError, OSError), directories(path, (entry.name,)) as way:
                    yield from self._listed(way[-1], path / entry.name)

    def _create(self, disk: DiskSpec) -> None:
        if not 0 < disk.size <= MAX_MIB:
            raise BlockDeviceError(f"{self._label(disk)} cannot have {disk.size} MiB; allowed: 1 to {MAX_MIB}")
        place = self._place(disk.logical_id)
        with directories(place.top, place.below, create=True) as way:
            descriptor = self._reserve(place, way)
            try:
                os.ftruncate(descriptor, disk.size * MIB)
            except OSError:
                self._discard(place, way)
                raise
            finally:
                os.close(descriptor)

    def _remove(self, disk: DiskSpec) -> None:
        place = self._place(disk.logical_id)
        with suppress(FileNotFoundError), directories(place.top, place.below) as way:
            with suppress(FileNotFoundError):
                self._look(disk, place, way)
            self._discard(place, way)

    def _grow(self, disk: DiskSpec, amount: int, dry_run: bool) -> None:
        if amount < 0:
            raise BlockDeviceError(f"{self._label(disk)} cannot shrink: {amount} MiB to add")
        place = self._place(disk.logical_id)
        with directories(place.top, place.below) as way:
            self._look(disk, place, way)
            descriptor = os.open(place.name, WRITING, dir_fd=way[-1])
            try:
                bytes_wanted = self._checked(disk, os.fstat(descriptor)).st_size + amount * MIB
                if bytes_wanted > MAX_MIB * MIB:
                    raise BlockDeviceError(
                        f"{self._label(disk)} cannot grow by {amount} MiB; the most it can have is {MAX_MIB}"
                    )
                if not dry_run:
                    os.ftruncate(descriptor, bytes_wanted)
            finally:
                os.close(descriptor)

    def _rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        source, target = self._place(disk.logical_id), self._place(logical_id)
        with directories(source.top, source.below) as old_way:
            self._look(disk, source, old_way)
            with directories(target.top, target.below, create=True) as new_way:
                os.close(self._reserve(target, new_way))
                try:
                    os.rename(source.name, target.name, src_dir_fd=old_way[-1], dst_dir_fd=new_way[-1])
                except OSError:
                    self._discard(target, new_way)
                    raise
            self._leave(source, old_way)

    def _find(self, disk: DiskSpec) -> BlockDevStatus | None:
        place = self._place(disk.logical_id)
        try:
            with directories(place.top, place.below) as way:
                return BlockDevStatus(dev_path=str(place.plain), size=self._look(disk, place, way).st_size // MIB)
        except FileNotFoundError:
            return None

    def _place(self, logical_id: list[Any] | None) -> Place:
        if logical_id is None or len(logical_id) != 2 or not isinstance(logical_id[1], str):
            raise FileStoragePathError(
                f"the logical id of a {self.template} disk is [driver, path], not {logical_id!r}"
            )
        return self.allowed.place(logical_id[1])

    def _reserve(self, place: Place, way: Sequence[int]) -> int:
        """Make the file, and open it; the name is ours or it is an error, even when two ask at once."""
        try:
            return os.open(place.name, MAKING, FILE_MODE, dir_fd=way[-1])
        except FileExistsError as error:
            text = f"{error.strerror}; 'gnt-cluster verify' names it if it is no disk of the node, and may be removed"
            raise FileExistsError(error.errno, text) from None
        except OSError:
            self._leave(place, way)
            raise

    def _discard(self, place: Place, way: Sequence[int]) -> None:
        with suppress(FileNotFoundError):
            os.unlink(place.name, dir_fd=way[-1])
        self._leave(place, way)

    def _leave(self, place: Place, way: Sequence[int]) -> None:
        """Remove an instance's directory when it is empty; a listed directory stays."""
        if place.below:
            with suppress(OSError):  # it has other disks, or is gone already
                os.rmdir(place.below[-1], dir_fd=way[-2])

    def _look(self, disk: DiskSpec, place: Place, way: Sequence[int]) -> os.stat_result:
        """@raise FileNotFoundError: there is no such disk. @raise BlockDeviceError: it is none."""
        return self._checked(disk, os.stat(place.name, dir_fd=way[-1], follow_symlinks=False))

    def _checked(self, disk: DiskSpec, seen: os.stat_result) -> os.stat_result:
        """A link or a directory in a disk's place is a trick or a mistake, never a disk."""
        if not stat.S_ISREG(seen.st_mode):
            raise BlockDeviceError(f"{self._label(disk)} is not a regular file")
        return seen

    def _label(self, disk: DiskSpec) -> str:
        path = disk.logical_id[1] if disk.logical_id and len(disk.logical_id) == 2 else disk.logical_id
        return f"{self.template} disk {path}"

    async def _run(self, disk: DiskSpec, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await self.threads.run(work, *args, **kwargs)
        except OSError as error:
            raise BlockDeviceError(f"{self._label(disk)}: {error.strerror}")


def register(parts: StorageParts) -> StorageKind:
    """See `kinds.Register`."""
    allowed = AllowedPaths(parts.files, parts.paths)
    templates = driven_by("file")
    return StorageKind(
        [FileStorage(word.value, allowed, parts.threads) for word in templates],
        dict.fromkeys((TEMPLATES[word].storage.value for word in templates), DirectoryPools(allowed, parts.threads)),
    )
