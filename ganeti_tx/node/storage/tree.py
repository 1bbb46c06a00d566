"""Disks with those that they are made of: children come first and go last.

A storage knows its own device only (`interfaces.py`); which devices lie below it, in which order they are done and what is
taken back when one fails is the same for all, and stands here.
"""

from typing import Any

from attrs import frozen
from twisted.logger import Logger

from ganeti_tx.errors import BlockDeviceError, GanetiError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus, stacked
from ganeti_tx.node.storage.abilities import IMirror, IOwnerMark
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
        lent = TakingBack()
        try:
            below = [await self._assemble(child, False, lent) for child in disk.children]
            await storage.create(disk, below)
            back.undo(storage.remove, disk)
            if IOwnerMark.providedBy(storage):
                await IOwnerMark(storage).set_owner(disk, owner)
        finally:
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
            return await self._assemble(disk, primary, back)

    async def assemble_within(self, disk: DiskSpec, primary: bool, back: TakingBack) -> BlockDevStatus:
        """The same as one of several deeds: if a later one fails this is taken back."""
        return await self._assemble(disk, primary, back)

    async def _assemble(self, disk: DiskSpec, primary: bool, back: TakingBack) -> BlockDevStatus:
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
                below = [await self._assemble(child, primary, own) for child in disk.children]
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

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """Give the disk, not its children, another logical id."""
        await self.of(disk).rename(disk, logical_id)
