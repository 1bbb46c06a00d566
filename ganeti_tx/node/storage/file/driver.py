"""Disks that are files, raw or images of format qcow2: the templates `file` and `sharedfile`."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError, HypervisorError
from ganeti_tx.model.disk_template import QCOW2
from ganeti_tx.model.disk_templates import TEMPLATES, driven_by
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.snapshots import snapshot_id
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import ExistingDevice, IExisting, IMaySnapshot, IRawView, ISnapshot
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.disk_files import DiskFiles
from ganeti_tx.node.storage.file.disk_images import DiskImages
from ganeti_tx.node.storage.file.pools import MIB, DirectoryPools
from ganeti_tx.node.storage.file.qemu_img import QemuImg
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.node.storage.kinds import StorageKind, StorageParts
from ganeti_tx.node.storage.raw_view import RawView
from ganeti_tx.runtime.threads import IThreads

P = ParamSpec("P")
T = TypeVar("T")

#: What a snapshot is called, behind a dot that follows the name of the disk.
_SNAPSHOT = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")


@implementer(IStorage, IExisting, ISnapshot, IMaySnapshot, IRawView)
@frozen
class FileStorage:
    """Sparse files below the allowed directories; a disk's logical id is [driver, path].

    The instance's directory comes with its first disk and goes with its last. A snapshot of a raw file is a file of its own,
    that of an image is within it; either has the name of the disk with a dot and its own behind it.

    An instance's directory stays if it is the instances' of all nodes (`keeps_directories`), of which one may be making a disk.
    """

    template: str
    allowed: AllowedPaths
    threads: IThreads
    images: DiskImages
    keeps_directories: bool = False

    @property
    def files(self) -> DiskFiles:
        """What is done with the files themselves."""
        return DiskFiles(self.template, self.allowed, self.keeps_directories)

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`."""
        await self._run(disk, self.files.create, disk)
        if disk.format == QCOW2:
            made = False
            try:
                await self._by(disk, self.images.create(self.files.path(disk), disk.size * MIB))
                made = True
            finally:
                if not made:
                    await self._run(disk, self.files.remove, disk)

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        within = await self._run(disk, self.files.within, disk)
        if within is not None:
            await self._by(disk, self.images.drop_snapshot(str(within.plain), self.files.name(disk)))
        else:
            await self._run(disk, self.files.remove, disk)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`. An image in use grows by whoever uses it."""
        wanted = await self._run(disk, self.files.grow, disk, amount, dry_run)
        if disk.format == QCOW2 and not dry_run:
            await self._by(disk, self.images.resize(self.files.path(disk), wanted))

    async def snapshot(self, disk: DiskSpec, name: str, size: int) -> list[Any]:
        """See `ISnapshot`."""
        if not _SNAPSHOT.fullmatch(name):
            raise BlockDeviceError(f"{self.files.label(disk)}: {name!r:.100} is no name of a snapshot")
        await self._run(disk, self.files.place, disk.logical_id)
        logical_id = snapshot_id(disk.logical_id or (), name)
        if disk.format == QCOW2:
            if name in (await self._run(disk, self.files.looked_into, disk)).snapshots:
                raise BlockDeviceError(f"{self.files.label(disk)} has a snapshot {name} already")
            await self._by(disk, self.images.snapshot(self.files.path(disk), name))
        else:
            await self._run(disk, self.files.clone, disk, logical_id)
        return logical_id

    async def snapshot_fault(self, disk: DiskSpec) -> str | None:
        """See `IMaySnapshot`: of images always; of raw files where the file system lets two files share blocks."""
        return None if disk.format == QCOW2 else await self._run(disk, self.files.clone_fault, disk)

    def view(self, disk: DiskSpec, writable: bool) -> RawView | None:
        """See `IRawView`."""
        if disk.format != QCOW2:
            return None
        try:
            within = self.files.within(disk)
        except OSError as error:
            raise BlockDeviceError(f"{self.files.label(disk)}: {error.strerror}")
        if within is not None:
            return self.images.view(disk.uuid, str(within.plain), self.files.name(disk), False)
        return self.images.view(disk.uuid, self.files.path(disk), "", writable)

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        await self._run(disk, self.files.rename, disk, logical_id)

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`: a file is always ready, if it is there."""
        status = await self.find(disk)
        if status is None:
            raise BlockDeviceError(f"{self.files.label(disk)} does not exist")
        return status

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`: nothing was done that could be undone, but the path must be allowed."""
        await self._run(disk, self.files.place, disk.logical_id)

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`: as soon as it is there."""
        return await self.find(disk) is not None

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`."""
        return await self._run(disk, self.files.find, disk)

    async def existing(self, place: str) -> Sequence[ExistingDevice]:
        """See `IExisting`: regular files in a directory and in those of instances below it; links are not followed."""
        try:
            return await self.threads.run(self.files.existing, place)
        except FileNotFoundError:  # it comes with the first disk
            return []
        except OSError as error:
            raise BlockDeviceError(f"cannot list {place!r}: {error.strerror}")

    async def _run(self, disk: DiskSpec, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await self.threads.run(work, *args, **kwargs)
        except OSError as error:
            raise BlockDeviceError(f"{self.files.label(disk)}: {error.strerror}")

    async def _by(self, disk: DiskSpec, work: Awaitable[None]) -> None:
        """What others do with an image."""
        try:
            await work
        except (BlockDeviceError, HypervisorError) as error:
            raise BlockDeviceError(f"{self.files.label(disk)}: {error}") from None


def disk_images(parts: StorageParts) -> DiskImages:
    """What is done with those disks that are images."""
    return DiskImages(QemuImg(parts.runner), parts.holders, parts.paths.raw_views_dir)


def register(parts: StorageParts) -> StorageKind:
    """See `kinds.Register`."""
    allowed = AllowedPaths(parts.files, parts.paths)
    templates = driven_by("file")
    images = disk_images(parts)
    return StorageKind(
        [FileStorage(word.value, allowed, parts.threads, images) for word in templates],
        dict.fromkeys((TEMPLATES[word].storage.value for word in templates), DirectoryPools(allowed, parts.threads)),
    )
