"""Disks with those that they are made of: children come first and go last.

A storage knows its own device only (`interfaces.py`); which devices lie below it, in which order they are done and what is
taken back when one fails is the same for all, and stands here.
"""

from typing import Any

from attrs import frozen
from msgspec.structs import replace
from twisted.logger import Logger

from ganeti_tx.errors import BlockDeviceError, GanetiError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus, LocalDiskStatus, stacked
from ganeti_tx.node.storage.abilities import ILook, IMaySnapshot, IMirror, IOwnerMark, ISnapshot
from ganeti_tx.node.storage.interfaces import IStorage
from ganeti_tx.node.storage.kinds import NodeStorage
from ganeti_tx.node.storage.taking_back import TakingBack

log = Logger()


@frozen
class DeviceTree:
    """The disks of a node, each with its children, by their templates' storages. All raise as `IStorage` does."""

    storage: NodeStorage

    def of(self, disk: DiskSpec) -> IStorage:
        """The storage of a disk. @raise BlockDeviceError: this node has none."""
        return self.storage.of(disk.dev_type)

    async def create(self, disk: DiskSpec, owner: str, on_children: bool = False) -> None:
        """Make the disk, and before it its children unless they are there; a failure leaves nothing of what was made."""
        async with TakingBack() as back:
            await self._create(disk, owner, not on_children, back)

    async def _create(self, disk: DiskSpec, owner: str, children_too: bool, back: TakingBack) -> None:
        storage = self.of(disk)
        if children_too:
            for child in disk.children:
                await self._create(child, owner, True, back)
        async with TakingBack() as lent:
            below = [await self.assemble_within(child, False, lent) for child in disk.children]
            await storage.create(disk, below)
            back.undo(storage.remove, disk)
            if IOwnerMark.providedBy(storage):
                await IOwnerMark(storage).set_owner(disk, owner)
            await lent.now()

    async def remove(self, disk: DiskSpec) -> None:
        """Take the disk down and delete it, then its children; one that stays does not keep the others.

        @raise BlockDeviceError: with what stays; nothing was touched when the disk itself is in use.
        """
        storage = self.of(disk)
        await storage.shutdown(disk)
        await storage.remove(disk)
        faults: list[str] = []
        for child in reversed(disk.children):
            try:
                await self.remove(child)
            except GanetiError as error:
                faults.append(str(error))
        if faults:
            raise BlockDeviceError("; ".join(faults))

    async def assemble(self, disk: DiskSpec, primary: bool) -> BlockDevStatus:
        """Make the children ready, then the disk; after a failure only those are ready that were so before."""
        async with TakingBack() as back:
            return await self.assemble_within(disk, primary, back)

    async def assemble_within(self, disk: DiskSpec, primary: bool, back: TakingBack) -> BlockDevStatus:
        """The same as one of several operations: if a later one fails this is taken back."""
        storage = self.of(disk)
        below = await self._assemble_below(disk, primary, back)
        ready = await storage.is_ready(disk)
        status = await storage.assemble(disk, primary, below)
        if not ready:
            back.undo(storage.shutdown, disk)
        return stacked(status, below)

    async def _assemble_below(self, disk: DiskSpec, primary: bool, back: TakingBack) -> list[BlockDevStatus]:
        """The children, ready; none for a mirror of which some child cannot be, since its other side may have the data."""
        own = TakingBack()
        try:
            async with own:
                below = [await self.assemble_within(child, primary, own) for child in disk.children]
        except BlockDeviceError as error:
            if not IMirror.providedBy(self.of(disk)):
                raise
            log.warn("disk {uuid} has to do without its own part: {fault}", uuid=disk.uuid, fault=str(error))
            return []
        back.undo(own.now)
        return below

    async def shutdown(self, disk: DiskSpec) -> None:
        """Take the disk down, then its children. @raise BlockDeviceError: it is in use; nothing below it was touched."""
        await self.of(disk).shutdown(disk)
        for child in reversed(disk.children):
            await self.shutdown(child)

    async def find(self, disk: DiskSpec) -> BlockDevStatus | None:
        """The disk's state, its worst part counting; None when it is not there."""
        below = [await self.find(child) for child in disk.children]
        status = await self.of(disk).find(disk, below)
        return None if status is None else stacked(status, below)

    async def look(self, disk: DiskSpec) -> BlockDevStatus | None:
        """The same for whoever does nothing with the disk then, which stays as ready as it was if no instance has it."""
        storage = self.of(disk)
        if disk.active or not ILook.providedBy(storage):
            return await self.find(disk)
        return await ILook(storage).find_unused(disk)

    async def found(self, disk: DiskSpec) -> BlockDevStatus:
        """The same. @raise BlockDeviceError: it is not there."""
        status = await self.find(disk)
        if status is None:
            raise BlockDeviceError(f"{disk.dev_type} disk {disk.uuid} does not exist on this node")
        return status

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool, backing_store: bool) -> None:
        """Grow what holds the data, from the bottom up; or, without `backing_store`, the device that lies above that."""
        if bool(disk.children) != backing_store:
            await self.of(disk).grow(disk, amount, dry_run)
            return
        if backing_store:
            for child in self.data_children(disk):
                await self._grow_whole(child, amount, dry_run)

    async def _grow_whole(self, disk: DiskSpec, amount: int, dry_run: bool) -> None:
        for child in self.data_children(disk):
            await self._grow_whole(child, amount, dry_run)
        await self.of(disk).grow(disk, amount, dry_run)

    def data_children(self, disk: DiskSpec) -> list[DiskSpec]:
        """The children that hold the disk's data, and grow with it: not those with a mirror's own notes."""
        storage = self.of(disk)
        return list(IMirror(storage).data_children(disk) if IMirror.providedBy(storage) else disk.children)

    def mirror(self, disk: DiskSpec) -> Any:
        """The storage of a mirror, as IMirror. @raise BlockDeviceError: the disk is none."""
        storage = self.of(disk)
        if not IMirror.providedBy(storage):
            raise BlockDeviceError(f"disk {disk.uuid} of template {disk.dev_type} is not mirrored between nodes")
        return IMirror(storage)

    async def attach_children(self, disk: DiskSpec) -> None:
        """Give a mirror that does without its own part its children, which are made ready first."""
        mirror = self.mirror(disk)
        async with TakingBack() as back:
            below = [await self.assemble_within(child, False, back) for child in disk.children]
            await mirror.attach_children(disk, below)

    async def detach_children(self, disk: DiskSpec) -> None:
        """Let a mirror go on without its own part, which is taken down and stays."""
        await self.mirror(disk).detach_children(disk)
        for child in reversed(disk.children):
            await self.shutdown(child)

    async def is_whole(self, disk: DiskSpec) -> bool:
        """Whether the disk is assembled on this node, with all that it is made of."""
        if not await self.of(disk).is_ready(disk):
            return False
        status = await self.find(disk)
        return status is not None and status.ldisk_status is not LocalDiskStatus.FAULTY

    async def snapshot(self, disk: DiskSpec, name: str, size: int) -> list[Any]:
        """The logical id of a snapshot of the disk, or of the one child that holds its data.

        @raise BlockDeviceError: neither can have one.
        """
        storage = self.of(disk)
        if ISnapshot.providedBy(storage):
            logical_id: list[Any] = await ISnapshot(storage).snapshot(disk, name, size)
            return logical_id
        children = self.data_children(disk)
        if len(children) != 1:
            raise BlockDeviceError(no_snapshot(disk))
        return await self.snapshot(children[0], name, size)

    async def snapshot_fault(self, disk: DiskSpec) -> str | None:
        """Why there can be no snapshot of the disk, or of the one child that holds its data; None when there can."""
        storage = self.of(disk)
        if IMaySnapshot.providedBy(storage):
            fault: str | None = await IMaySnapshot(storage).snapshot_fault(disk)
            return fault
        if ISnapshot.providedBy(storage):
            return None
        children = self.data_children(disk)
        return await self.snapshot_fault(children[0]) if len(children) == 1 else no_snapshot(disk)

    async def set_owner(self, disk: DiskSpec, owner: str) -> None:
        """Mark the disk and its children as an instance's, as far as they can be marked."""
        storage = self.of(disk)
        if IOwnerMark.providedBy(storage):
            await IOwnerMark(storage).set_owner(disk, owner)
        for child in disk.children:
            await self.set_owner(child, owner)

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """Give the disk, not its children, another logical id; one that has it already, and not its former one, is done."""
        storage = self.of(disk)
        if await storage.find(disk) is None and await storage.find(replace(disk, logical_id=logical_id)) is not None:
            return
        await storage.rename(disk, logical_id)


def no_snapshot(disk: DiskSpec) -> str:
    """What is said of a disk of which there can be none."""
    return f"disk {disk.uuid} of template {disk.dev_type} cannot have a snapshot"
