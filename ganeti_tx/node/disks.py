"""Node calls about disks."""

from collections.abc import Sequence

from attrs import define, evolve
from msgspec.structs import replace
from twisted.internet.defer import CancelledError
from twisted.logger import Logger

from ganeti_tx.errors import BlockDeviceError, GanetiError, error_text
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.answers import answers
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.storage.abilities import IExisting, ISpindles, IUserspaceUri
from ganeti_tx.node.storage.links import DiskLinks
from ganeti_tx.node.storage.taking_back import TakingBack
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.node.storage.views import view_of
from ganeti_tx.rpc.calls.disk import (
    AssembledDisk,
    BdevSizes,
    BlockdevAssemble,
    BlockdevCreate,
    BlockdevFind,
    BlockdevGrow,
    BlockdevRemove,
    BlockdevRename,
    BlockdevShutdown,
    BlockdevStates,
    DiskState,
    FoundDevice,
)

log = Logger()


@define
class Disks:
    """The disks of this node, and the stable names of those that are ready for their owner."""

    tree: DeviceTree
    links: DiskLinks

    @answers(BlockdevCreate)
    async def create(self, call: BlockdevCreate) -> None:
        """Make the disk."""
        await self.tree.create(call.disk, call.owner, call.on_children)

    @answers(BlockdevRemove)
    async def remove(self, call: BlockdevRemove) -> None:
        """Take the disk down and delete it; its stable name goes once it is."""
        await self.tree.remove(call.disk)
        if call.disk.index >= 0:
            self.links.unlink(call.owner, call.disk.index)

    @answers(BlockdevGrow)
    async def grow(self, call: BlockdevGrow) -> None:
        """Add room."""
        await self.tree.grow(call.disk, call.amount, call.dry_run, call.backing_store)

    @answers(BlockdevRename)
    async def rename(self, call: BlockdevRename) -> None:
        """Give another logical id, unless it has it already; a stable name that led to the disk goes on leading to it."""
        renamed = replace(call.disk, logical_id=call.logical_id)
        if await self.tree.find(call.disk) is None and await self.tree.find(renamed) is not None:
            return
        linked = await self._is_linked(call.disk, call.owner)
        await self.tree.rename(call.disk, call.logical_id)
        if linked:
            self.links.link(call.owner, call.disk.index, (await self.tree.found(renamed)).dev_path)

    async def _is_linked(self, disk: DiskSpec, owner: str) -> bool:
        """Whether the disk's stable name is there, and leads to it."""
        target = self.links.target(owner, disk.index) if disk.index >= 0 else None
        return target is not None and target == (await self.tree.found(disk)).dev_path

    @answers(BlockdevAssemble)
    async def assemble(self, call: BlockdevAssemble) -> AssembledDisk:
        """Make ready. Where the owner may run, the disk gets its stable name."""
        async with TakingBack() as back:
            attached = await self._ready(call.disk, call.owner, call.hypervisor, call.on_primary, back)
        named = call.on_primary and is_named(call.disk, attached.path)
        link = str(self.links.path(call.owner, call.disk.index)) if named else None
        return AssembledDisk(attached.path, link, attached.uri)

    @answers(BlockdevShutdown)
    async def shutdown(self, call: BlockdevShutdown) -> None:
        """Take down; its stable name goes once it is down."""
        await self.tree.shutdown(call.disk)
        if call.disk.index >= 0:
            self.links.unlink(call.owner, call.disk.index)

    @answers(BlockdevFind)
    async def find(self, call: BlockdevFind) -> BlockDevStatus | None:
        """What is there."""
        return await self.tree.look(call.disk)

    @answers(BlockdevStates)
    async def states(self, call: BlockdevStates) -> list[DiskState]:
        """What is there of each; whatever is wrong with one is told of that one."""
        return [await self._state(disk) for disk in call.disks]

    async def _state(self, disk: DiskSpec) -> DiskState:
        try:
            found = await self.tree.look(disk)
            return DiskState(found, spindles=None if found is None else await self._spindles(disk))
        except GanetiError as error:
            return DiskState(fault=error_text(error))
        except CancelledError:
            raise
        except (
            Exception
        ) as error:  # what is on a disk may bring up a fault of ours; the others' states must not go with it
            log.failure("looking at disk {uuid}", uuid=disk.uuid)
            return DiskState(fault=error_text(error))

    async def _spindles(self, disk: DiskSpec) -> int | None:
        storage = self.tree.of(disk)
        return await ISpindles(storage).spindles(disk) if disk.exclusive and ISpindles.providedBy(storage) else None

    @answers(BdevSizes)
    async def existing(self, call: BdevSizes) -> list[FoundDevice]:
        """Of those that are asked for, those that are there. @raise BlockDeviceError: the storage does not tell."""
        storage = self.tree.storage.of(call.template)
        if not IExisting.providedBy(storage):
            raise BlockDeviceError(f"disks of template {call.template} cannot be adopted")
        found = await IExisting(storage).existing(call.place)
        return [
            FoundDevice(each.logical_id, each.size, each.in_use, each.device)
            for each in found
            if each.logical_id in call.wanted
        ]

    async def attach(self, instance: InstanceSpec) -> list[AttachedDisk]:
        """Make every disk of an instance ready. @raise BlockDeviceError: one is not, and the others are as before."""
        async with TakingBack() as back:
            return [await self._ready(disk, instance.name, instance.hypervisor, True, back) for disk in instance.disks]

    async def attach_one(self, instance: InstanceSpec, disk: DiskSpec) -> AttachedDisk:
        """Make one disk ready for an instance. @raise BlockDeviceError: it is as before."""
        async with TakingBack() as back:
            return await self._ready(disk, instance.name, instance.hypervisor, True, back)

    def view(self, disk: AttachedDisk, *, writable: bool) -> tuple[AttachedDisk, Sequence[str]]:
        """A disk as programs of this node see it, and what has to stand before their command to see it."""
        view = view_of(self.tree.of(disk.spec), disk.spec, disk.path, writable=writable)
        return evolve(disk, path=view.path), view.prefix

    async def attach_part(self, disk: DiskSpec, hypervisor: str) -> AttachedDisk:
        """Make ready what is no disk of an instance's, such as a snapshot of one. @raise BlockDeviceError: it is as before."""
        async with TakingBack() as back:
            status = await self.tree.assemble_within(disk, True, back)
            return AttachedDisk(spec=disk, path=status.dev_path, uri=await self._uri(disk, hypervisor))

    async def _ready(
        self, disk: DiskSpec, owner: str, hypervisor: str, primary: bool, back: TakingBack
    ) -> AttachedDisk:
        status = await self.tree.assemble_within(disk, primary, back)
        uri = await self._uri(disk, hypervisor) if primary else None
        if primary and is_named(disk, status.dev_path):
            before = self.links.target(owner, disk.index)
            self.links.link(owner, disk.index, status.dev_path)
            back.undo(self._restore_link, owner, disk.index, before)
        return AttachedDisk(spec=disk, path=status.dev_path, uri=uri)

    async def _restore_link(self, owner: str, index: int, before: str | None) -> None:
        self.links.restore(owner, index, before)

    async def _uri(self, disk: DiskSpec, hypervisor: str) -> str | None:
        storage = self.tree.of(disk)
        return await IUserspaceUri(storage).uri(disk, hypervisor) if IUserspaceUri.providedBy(storage) else None


def is_named(disk: DiskSpec, path: str) -> bool:
    """Whether a disk has a stable name while it is ready: it is an instance's, and there is something to lead to."""
    return disk.index >= 0 and path != ""
