"""The files of disks: all of it blocks, and is done by descriptors (`beneath.py`)."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from ganeti_tx.errors import BlockDeviceError, FileStoragePathError
from ganeti_tx.model.disk_template import QCOW2
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import ExistingDevice
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.beneath import Place, directories
from ganeti_tx.node.storage.file.pools import MIB
from ganeti_tx.node.storage.file.qcow2_header import Qcow2Image, read_image
from ganeti_tx.node.storage.file.reflink import can_clone, clone

FILE_MODE = 0o600
MAKING = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
#: A pipe in the file's place holds nobody up.
OPENING = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
READING, WRITING = os.O_RDONLY | OPENING, os.O_WRONLY | OPENING

#: Files that are listed of one pool.
MAX_EXISTING = 10_000
#: Largest disk: a file's size is a signed 64-bit number of bytes.
MAX_MIB = (1 << 43) - 1


@frozen
class DiskFiles:
    """Those of one template. @raise OSError, BlockDeviceError, FileStoragePathError: what could not be done.

    @ivar keeps_directories: whether the directory of an instance stays when it is empty.
    """

    template: str
    allowed: AllowedPaths
    keeps_directories: bool = False

    def existing(self, place: str) -> list[ExistingDevice]:
        """See `IExisting`."""
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

    def create(self, disk: DiskSpec) -> None:
        """Make the file; that of an image is empty."""
        if not 0 < disk.size <= MAX_MIB:
            raise BlockDeviceError(f"{self.label(disk)} cannot have {disk.size} MiB; allowed: 1 to {MAX_MIB}")
        place = self.place(disk.logical_id)
        with directories(place.top, place.below, create=True) as way:
            descriptor = self._reserve(place, way)
            try:
                if disk.format != QCOW2:
                    os.ftruncate(descriptor, disk.size * MIB)
            except OSError:
                self._discard(place, way)
                raise
            finally:
                os.close(descriptor)

    def remove(self, disk: DiskSpec) -> None:
        """Take the file away, if it is there."""
        place = self.place(disk.logical_id)
        with suppress(FileNotFoundError), directories(place.top, place.below) as way:
            with suppress(FileNotFoundError):
                self._look(disk, place, way)
            self._discard(place, way)

    def grow(self, disk: DiskSpec, amount: int, dry_run: bool) -> int:
        """How many bytes it is to have; a raw file has them then."""
        if amount < 0:
            raise BlockDeviceError(f"{self.label(disk)} cannot shrink: {amount} MiB to add")
        place = self.place(disk.logical_id)
        with directories(place.top, place.below) as way:
            self._look(disk, place, way)
            descriptor = os.open(place.name, WRITING, dir_fd=way[-1])
            try:
                present = self._checked(disk, os.fstat(descriptor)).st_size
                if disk.format == QCOW2:
                    present = self.looked_into(disk).size
                bytes_wanted = present + amount * MIB
                if bytes_wanted > MAX_MIB * MIB:
                    raise BlockDeviceError(
                        f"{self.label(disk)} cannot grow by {amount} MiB; the most it can have is {MAX_MIB}"
                    )
                if not dry_run and disk.format != QCOW2:
                    os.ftruncate(descriptor, bytes_wanted)
                return bytes_wanted
            finally:
                os.close(descriptor)

    def clone(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """Make a file that shares the blocks of another."""
        source, target = self.place(disk.logical_id), self.place(logical_id)
        with directories(source.top, source.below) as way, self._opened(disk, source, way) as descriptor:
            made = self._reserve(target, way)
            try:
                clone(descriptor, made)
            except OSError as error:
                self._discard(target, way)
                raise BlockDeviceError(f"{self.label(disk)} cannot have a snapshot: {error.strerror}") from None
            finally:
                os.close(made)

    def clone_fault(self, disk: DiskSpec) -> str | None:
        """Why there can be no such file."""
        place = self.place(disk.logical_id)
        with directories(place.top, place.below) as way, self._opened(disk, place, way) as descriptor:
            if can_clone(descriptor, way[-1]):
                return None
        return (
            f"{self.label(disk)} is a raw file, and the file system of {place.plain.parent} lets no two files share"
            " blocks; disks of format qcow2 can have snapshots everywhere"
        )

    @contextmanager
    def _opened(self, disk: DiskSpec, place: Place, way: Sequence[int]) -> Iterator[int]:
        """@raise FileNotFoundError: there is no such disk. @raise BlockDeviceError: it is none."""
        self._look(disk, place, way)
        descriptor = os.open(place.name, READING, dir_fd=way[-1])
        try:
            self._checked(disk, os.fstat(descriptor))
            yield descriptor
        finally:
            os.close(descriptor)

    def looked_into(self, disk: DiskSpec, place: Place | None = None) -> Qcow2Image:
        """The image of a disk, or that at a place; raises as `_opened` does."""
        place = place or self.place(disk.logical_id)
        with directories(place.top, place.below) as way, self._opened(disk, place, way) as descriptor:
            try:
                return read_image(descriptor)
            except BlockDeviceError as error:
                raise BlockDeviceError(f"{self.label(disk)}: {error}") from None

    def within(self, disk: DiskSpec) -> Place | None:
        """The image that has this disk, which is a snapshot, within it; None if it is none such, or not there."""
        place = self.place(disk.logical_id)
        of = place.name.rpartition(".")[0]
        if disk.format != QCOW2 or not of:
            return None
        image = attrs.evolve(place, plain=place.plain.with_name(of))
        with suppress(FileNotFoundError):
            if not self._is_there(place) and self.name(disk) in self.looked_into(disk, image).snapshots:
                return image
        return None

    def _is_there(self, place: Place) -> bool:
        with directories(place.top, place.below) as way:
            try:
                os.stat(place.name, dir_fd=way[-1], follow_symlinks=False)
            except FileNotFoundError:
                return False
            return True

    def name(self, disk: DiskSpec) -> str:
        """That of a snapshot."""
        return self.path(disk).rpartition(".")[2]

    def path(self, disk: DiskSpec) -> str:
        """Of its file."""
        return str(self.place(disk.logical_id).plain)

    def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """Give the file another place."""
        source, target = self.place(disk.logical_id), self.place(logical_id)
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

    def find(self, disk: DiskSpec) -> BlockDevStatus | None:
        """See `IStorage`."""
        place = self.place(disk.logical_id)
        try:
            if (within := self.within(disk)) is not None:
                size = self.looked_into(disk, within).snapshots[self.name(disk)]
            elif disk.format == QCOW2:
                size = self.looked_into(disk).size
            else:
                with directories(place.top, place.below) as way:
                    size = self._look(disk, place, way).st_size
            return BlockDevStatus(dev_path=str(place.plain), size=size // MIB)
        except FileNotFoundError:
            return None

    def place(self, logical_id: list[Any] | None) -> Place:
        """@raise FileStoragePathError: it is not allowed, or is none."""
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
        if place.below and not self.keeps_directories:
            with suppress(OSError):  # it has other disks, or is gone already
                os.rmdir(place.below[-1], dir_fd=way[-2])

    def _look(self, disk: DiskSpec, place: Place, way: Sequence[int]) -> os.stat_result:
        """@raise FileNotFoundError: there is no such disk. @raise BlockDeviceError: it is none."""
        return self._checked(disk, os.stat(place.name, dir_fd=way[-1], follow_symlinks=False))

    def _checked(self, disk: DiskSpec, seen: os.stat_result) -> os.stat_result:
        """A link or a directory in a disk's place is a trick or a mistake, never a disk."""
        if not stat.S_ISREG(seen.st_mode):
            raise BlockDeviceError(f"{self.label(disk)} is not a regular file")
        return seen

    def label(self, disk: DiskSpec) -> str:
        """For people."""
        path = disk.logical_id[1] if disk.logical_id and len(disk.logical_id) == 2 else disk.logical_id
        return f"{self.template} disk {path}"
