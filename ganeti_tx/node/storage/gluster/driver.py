"""The template `gluster`: files on a volume that is mounted by FUSE, or that QEMU opens by itself."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from attrs import frozen
from msgspec.structs import replace
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_templates import TEMPLATES, driven_by
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import ILeaving, IUserspaceUri
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.driver import FileStorage, disk_images
from ganeti_tx.node.storage.gluster.mounts import GlusterMounts
from ganeti_tx.node.storage.gluster.pools import GlusterPools
from ganeti_tx.node.storage.gluster.records import MountRecords
from ganeti_tx.node.storage.gluster.volume import Location, location_of
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.node.storage.kinds import StorageKind, StorageParts


@implementer(IStorage, IUserspaceUri, ILeaving)
@frozen
class GlusterStorage:
    """A disk's logical id is [driver, DIRECTORY/ganeti/NAME]; its parameters say which volume is mounted in the directory.

    Nodes make and remove files at once, so that the directory in the volume stays with the last disk.
    """

    template: str
    files: FileStorage
    mounts: GlusterMounts

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`."""
        async with self._mounted(disk):
            await self.files.create(disk)

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        async with self._mounted(disk) as location:
            await self.files.remove(disk)
        await self.mounts.release(location.directory, disk.uuid)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        async with self._mounted(disk):
            await self.files.grow(disk, amount, dry_run)

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`: within the volume."""
        there = location_of(replace(disk, logical_id=logical_id)).directory
        async with self._mounted(disk) as location:
            if there != location.directory:
                raise BlockDeviceError(f"{self.template} disk {location.path} cannot leave its volume for {there}")
            await self.files.rename(disk, logical_id)

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`: mounted, also where QEMU opens it by itself, for the scripts of operating systems."""
        async with self._mounted(disk) as location:
            status = await self.files.assemble(disk, primary)
            await self.mounts.keep(location.directory, disk.uuid)
        return status

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        await self.mounts.release(location_of(disk).directory, disk.uuid)

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`."""
        return self.mounts.is_kept(location_of(disk).directory, disk.uuid) and await self.find(disk) is not None

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`. @raise BlockDeviceError: also when the volume cannot be mounted, so that nobody can tell."""
        async with self._mounted(disk):
            return await self.files.find(disk)

    async def uri(self, disk: DiskSpec, hypervisor: str) -> str | None:
        """See `IUserspaceUri`: QEMU's only, where it runs as the hypervisor itself."""
        location = location_of(disk)
        wanted = disk.params.get("access") == "userspace" and hypervisor == Hypervisor("kvm")
        return location.volume.uri(location.path) if wanted else None

    async def leave(self) -> Sequence[str]:
        """See `ILeaving`."""
        return await self.mounts.leave()

    @asynccontextmanager
    async def _mounted(self, disk: DiskSpec) -> AsyncIterator[Location]:
        location = location_of(disk)
        async with self.mounts.used(location.volume, location.directory):
            yield location


def register(parts: StorageParts) -> StorageKind:
    """See `kinds.Register`."""
    allowed = AllowedPaths(parts.files, parts.paths)
    records = MountRecords(parts.files, parts.paths.gluster_mounts_dir)
    mounts = GlusterMounts(allowed, records, parts.runner, parts.threads)
    templates = driven_by("gluster")
    images = disk_images(parts)
    own = [FileStorage(word.value, allowed, parts.threads, images, keeps_directories=True) for word in templates]
    return StorageKind(
        [GlusterStorage(files.template, files, mounts) for files in own],
        dict.fromkeys((TEMPLATES[word].storage.value for word in templates), GlusterPools(mounts)),
    )
