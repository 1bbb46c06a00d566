"""Node calls about what only some disks can do: mirrors above all."""

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.answers import answers
from ganeti_tx.node.disks import is_named
from ganeti_tx.node.storage.abilities import IMirror, IOpening
from ganeti_tx.node.storage.links import DiskLinks
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.rpc.calls.mirror import (
    BlockdevAddchildren,
    BlockdevClose,
    BlockdevGetmirrorstatus,
    BlockdevOpen,
    BlockdevPauseResumeSync,
    BlockdevRemovechildren,
    BlockdevSetinfo,
    BlockdevSnapshot,
    BlockdevSnapshotFaults,
    DrbdAttachNet,
    DrbdDisconnectNet,
    DrbdNeedsActivation,
    DrbdWaitSync,
    SyncProgress,
)

#: Percent: in sync, and the most that is told of what is not.
ALL = 100.0
NEARLY_ALL = 99.99


@define
class Mirrors:
    """The disks of this node that have a copy elsewhere."""

    tree: DeviceTree
    links: DiskLinks

    @answers(BlockdevOpen)
    async def open(self, call: BlockdevOpen) -> None:
        """Those that can be primary become it, and all get their stable names."""
        for disk in call.disks:
            if mirror := self.mirror(disk):
                await mirror.become_primary(disk, call.exclusive)
            if opening := self.opening(disk):
                await opening.open(disk, call.exclusive)
            path = (await self.tree.found(disk)).dev_path
            if is_named(disk, path):
                self.links.link(call.instance_name, disk.index, path)

    @answers(BlockdevClose)
    async def close(self, call: BlockdevClose) -> None:
        """Those that are primary are so no longer, and the stable names go."""
        for disk in call.disks:
            if mirror := self.mirror(disk):
                await mirror.become_secondary(disk)
            if opening := self.opening(disk):
                await opening.close(disk)
            if disk.index >= 0:
                self.links.unlink(call.instance_name, disk.index)

    @answers(DrbdDisconnectNet)
    async def disconnect(self, call: DrbdDisconnectNet) -> None:
        """Go on alone."""
        for disk, mirror in self.mirrors(call.disks):
            await mirror.disconnect(disk)

    @answers(DrbdAttachNet)
    async def connect(self, call: DrbdAttachNet) -> None:
        """Look for the other side."""
        for disk, mirror in self.mirrors(call.disks):
            await mirror.connect(disk, call.multimaster, call.discard)

    @answers(DrbdWaitSync)
    async def progress(self, call: DrbdWaitSync) -> SyncProgress:
        """Of all together; one that has not found its other side yet has nothing."""
        percent = min([await self._progress(disk) for disk, _ in self.mirrors(call.disks)], default=ALL)
        return SyncProgress(done=percent >= ALL, percent=percent)

    async def _progress(self, disk: DiskSpec) -> float:
        status = await self.tree.found(disk)
        if status.sync_percent is not None:
            return min(status.sync_percent, NEARLY_ALL)
        return 0.0 if status.is_degraded else ALL

    @answers(DrbdNeedsActivation)
    async def not_ready(self, call: DrbdNeedsActivation) -> list[str]:
        """Those that are not assembled, or lack their own part."""
        return [disk.uuid for disk, _ in self.mirrors(call.disks) if not await self.tree.is_whole(disk)]

    @answers(BlockdevGetmirrorstatus)
    async def states(self, call: BlockdevGetmirrorstatus) -> list[BlockDevStatus]:
        """All of them, or an error."""
        return [await self.tree.found(disk) for disk in call.disks]

    @answers(BlockdevPauseResumeSync)
    async def pause(self, call: BlockdevPauseResumeSync) -> None:
        """Hold up, or go on."""
        for disk, mirror in self.mirrors(call.disks):
            await mirror.pause_sync(disk, call.pause)

    @answers(BlockdevAddchildren)
    async def attach_children(self, call: BlockdevAddchildren) -> None:
        """Make them ready and hand them over, unless the mirror has them."""
        if await self.tree.is_whole(call.disk):
            return
        await self.tree.attach_children(call.disk)

    @answers(BlockdevRemovechildren)
    async def detach_children(self, call: BlockdevRemovechildren) -> None:
        """Take them away, and down."""
        await self.tree.detach_children(call.disk)

    @answers(BlockdevSnapshot)
    async def snapshot(self, call: BlockdevSnapshot) -> list[Any]:
        """Where it is."""
        return await self.tree.snapshot(call.disk, call.snap_name, call.snap_size)

    @answers(BlockdevSnapshotFaults)
    async def snapshot_faults(self, call: BlockdevSnapshotFaults) -> list[str]:
        """A line for each."""
        return [await self.tree.snapshot_fault(disk) or "" for disk in call.disks]

    @answers(BlockdevSetinfo)
    async def set_owner(self, call: BlockdevSetinfo) -> None:
        """All that can be marked."""
        await self.tree.set_owner(call.disk, call.owner)

    def mirrors(self, disks: Sequence[DiskSpec]) -> Iterator[tuple[DiskSpec, Any]]:
        """The mirrors among disks. @raise BlockDeviceError: one is none."""
        for disk in disks:
            yield disk, self.tree.mirror(disk)

    def mirror(self, disk: DiskSpec) -> Any:
        """The storage of a mirror; None for other disks."""
        storage = self.tree.of(disk)
        return IMirror(storage) if IMirror.providedBy(storage) else None

    def opening(self, disk: DiskSpec) -> Any:
        """The storage of a disk that is to be told who may write to it; None for other disks."""
        storage = self.tree.of(disk)
        return IOpening(storage) if IOpening.providedBy(storage) else None
