"""Node calls about disks."""

from collections.abc import Mapping
from typing import Any

from attrs import define

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.node.dispatch import Method
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.storage.interfaces import DeviceStatus, IStorage
from ganeti_tx.node.storage.links import DiskLinks
from ganeti_tx.node.storage.registry import storage_of
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import (
    BlockdevAssemble,
    BlockdevCreate,
    BlockdevFind,
    BlockdevGrow,
    BlockdevRemove,
    BlockdevRename,
    BlockdevShutdown,
    DiskState,
)


@define
class Disks:
    """The disks of this node, each by its template's storage."""

    storage: Mapping[str, IStorage]
    links: DiskLinks

    def table(self) -> Mapping[type[NodeCall[object]], Method]:
        """Which call is which method."""
        return {
            BlockdevCreate: self.create,
            BlockdevRemove: self.remove,
            BlockdevGrow: self.grow,
            BlockdevRename: self.rename,
            BlockdevAssemble: self.assemble,
            BlockdevShutdown: self.shutdown,
            BlockdevFind: self.find,
        }

    def of(self, disk: DiskSpec) -> IStorage:
        """The storage of a disk's template. @raise BlockDeviceError: this node has none."""
        return storage_of(self.storage, disk.dev_type)

    async def create(self, call: BlockdevCreate) -> None:
        """Make the disk."""
        await self.of(call.disk).create(call.disk)

    async def remove(self, call: BlockdevRemove) -> None:
        """Take the disk down and delete it."""
        storage = self.of(call.disk)
        await storage.shutdown(call.disk)
        await storage.remove(call.disk)

    async def grow(self, call: BlockdevGrow) -> None:
        """Add room."""
        await self.of(call.disk).grow(call.disk, call.amount, call.dry_run)

    async def rename(self, call: BlockdevRename) -> None:
        """Give another logical id."""
        await self.of(call.disk).rename(call.disk, call.logical_id)

    async def assemble(self, call: BlockdevAssemble) -> str:
        """Make ready; the path. Where the owner may run, the disk gets its stable name."""
        status = await self.of(call.disk).assemble(call.disk, call.on_primary)
        if call.on_primary and call.disk.index >= 0:
            self.links.link(call.owner, call.disk.index, status.dev_path)
        return status.dev_path

    async def shutdown(self, call: BlockdevShutdown) -> None:
        """Take down, its stable name first."""
        if call.disk.index >= 0:
            self.links.unlink(call.owner, call.disk.index)
        await self.of(call.disk).shutdown(call.disk)

    async def find(self, call: BlockdevFind) -> DiskState | None:
        """What is there."""
        status = await self.of(call.disk).find(call.disk)
        return None if status is None else disk_state(status)

    async def attach(self, instance: InstanceSpec) -> list[AttachedDisk]:
        """Make every disk of an instance ready. @raise BlockDeviceError: one is not, and those before it are down again."""
        attached: list[AttachedDisk] = []
        try:
            for disk in instance.disks:
                status = await self.of(disk).assemble(disk, True)
                attached.append(AttachedDisk(spec=disk, path=status.dev_path))
                self.links.link(instance.name, disk.index, status.dev_path)
        except BlockDeviceError:
            self.links.unlink_all(instance.name)
            for done in reversed(attached):
                await self.of(done.spec).shutdown(done.spec)
            raise
        return attached


def disk_state(status: DeviceStatus) -> DiskState:
    """A storage's finding as it goes over the wire."""
    fields: dict[str, Any] = {name: getattr(status, name) for name in DiskState.__struct_fields__}
    return DiskState(**fields)
