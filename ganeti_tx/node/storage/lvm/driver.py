"""The template `plain`: each disk is a logical volume."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_templates import driven_by
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.snapshots import snapshot_id
from ganeti_tx.model.status import BlockDevStatus, LocalDiskStatus
from ganeti_tx.node.storage.abilities import ExistingDevice, IExisting, IOwnerMark, ISnapshot, ISpindles
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.node.storage.kinds import StorageKind, StorageParts
from ganeti_tx.node.storage.lvm import command
from ganeti_tx.node.storage.lvm.names import VolumeName, check_new, volume_name
from ganeti_tx.node.storage.lvm.placement import fewest, whole
from ganeti_tx.node.storage.lvm.pools import PhysicalVolumes, VolumeGroups
from ganeti_tx.node.storage.lvm.report import LogicalVolume
from ganeti_tx.node.storage.lvm.tools import LvmTools

#: The disk parameter for it, which is only there where it is set.
STRIPE_SIZE = "stripe-size"
#: What the tag begins with by which an administrator sees whose a volume is.
OWNER = "originstname+"


@implementer(IStorage, ISnapshot, IOwnerMark, IExisting, ISpindles)
@frozen
class LogicalVolumes:
    """A disk's logical id is [volume group, name]. It is ready while it is active."""

    template: str
    tools: LvmTools

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`: upon as few physical volumes as will do, the emptiest first."""
        volume = volume_name(disk.logical_id)
        check_new(volume)
        if disk.size <= 0:
            raise BlockDeviceError(f"{volume.label} cannot have {disk.size} MiB")
        stripes = int(disk.params.get("stripes", 1))
        async with self.tools.placing(volume.group):
            there = await self.tools.of_group(volume.group)
            if disk.exclusive:
                upon = whole(there, disk.size, disk.spindles)
            else:
                upon = fewest(there, disk.size, stripes, await self._under(disk.beside))
            width = disk.params.get(STRIPE_SIZE)
            argv = command.create(volume.group, volume.name, disk.size, min(stripes, len(upon)), upon, width)
            await self.tools.change(argv, f"make {volume.label} with {disk.size} MiB")

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`. @raise BlockDeviceError: the group is not there, so nobody knows whether the data are."""
        volume = volume_name(disk.logical_id)
        if await self.tools.volume(volume.group, volume.name) is None:
            await self.tools.group(volume.group)
            return
        await self.tools.change(command.remove(volume.group, volume.name), f"remove {volume.label}")

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        volume = volume_name(disk.logical_id)
        if amount < 0:
            raise BlockDeviceError(f"{volume.label} cannot shrink: {amount} MiB to add")
        await self._found(volume)
        if amount:
            async with self.tools.placing(volume.group):
                upon = await self._room_to_grow(volume) if disk.exclusive else ()
                argv = command.extend(volume.group, volume.name, amount, dry_run, upon)
                await self.tools.change(argv, f"grow {volume.label} by {amount} MiB")

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`: within its group."""
        volume, new = volume_name(disk.logical_id), volume_name(logical_id)
        check_new(new)
        if new.group != volume.group:
            raise BlockDeviceError(f"{volume.label} cannot get into volume group {new.group} by another name")
        await self.tools.change(
            command.rename(volume.group, volume.name, new.name), f"rename {volume.label} to {new.name}"
        )

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`: made active. What is left of one that has lost a part is of no use to anything upon it."""
        volume = volume_name(disk.logical_id)
        found = await self._found(volume)
        if found.broken:
            raise BlockDeviceError(f"{volume.label} is broken: a part of what it lies on is lost")
        if not found.active:
            await self.tools.change(command.activate(volume.group, volume.name, True), f"activate {volume.label}")
            found = await self._found(volume)
        return status(volume, found)

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`. One with snapshots stays active, and so do these: LVM would take all down that may be read."""
        volume = volume_name(disk.logical_id)
        found = await self.tools.volume(volume.group, volume.name)
        if found is not None and found.active and found.has_own_device:
            await self.tools.change(command.activate(volume.group, volume.name, False), f"take {volume.label} down")

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`."""
        volume = volume_name(disk.logical_id)
        found = await self.tools.volume(volume.group, volume.name)
        return found is not None and found.active

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`."""
        volume = volume_name(disk.logical_id)
        found = await self.tools.volume(volume.group, volume.name)
        return None if found is None else status(volume, found)

    async def snapshot(self, disk: DiskSpec, name: str, size: int) -> list[Any]:
        """See `ISnapshot`. That of a disk with physical volumes for itself lies there, too, or on empty ones."""
        volume = volume_name(disk.logical_id)
        made = volume_name(snapshot_id(volume.logical_id, name))
        async with self.tools.placing(volume.group):
            upon = await self._room_to_grow(volume) if disk.exclusive else ()
            argv = command.snapshot(volume.group, volume.name, made.name, size, upon)
            await self.tools.change(argv, f"make snapshot {made.name} of {volume.label}")
        return made.logical_id

    async def set_owner(self, disk: DiskSpec, owner: str) -> None:
        """See `IOwnerMark`: as a tag."""
        volume = volume_name(disk.logical_id)
        found = await self._found(volume)
        new = f"{OWNER}{owner}"
        if found.tags.count(new) != 1 or len(owners(found)) > 1:
            old = [tag for tag in owners(found) if tag != new]
            await self.tools.change(command.retag(volume.group, volume.name, old, new), f"mark {volume.label}")

    async def existing(self, place: str) -> Sequence[ExistingDevice]:
        """See `IExisting`: in a volume group."""
        return [
            ExistingDevice([each.vg_name, each.lv_name], each.size, each.in_use)
            for each in await self.tools.volumes(place)
        ]

    async def spindles(self, disk: DiskSpec) -> int:
        """See `ISpindles`."""
        return len(await self._upon(volume_name(disk.logical_id)))

    async def _under(self, volumes: Sequence[list[Any]]) -> set[str]:
        """The physical volumes that some volumes lie upon; those that are not there yet lie on none."""
        named = {(each.group, each.name) for each in map(volume_name, volumes)}
        pieces = await self.tools.segments() if named else []
        return {device for piece in pieces if (piece.vg_name, piece.lv_name) in named for device in piece.upon}

    async def _room_to_grow(self, volume: VolumeName) -> list[str]:
        """Where a disk that has physical volumes for itself may grow: on them, and on empty ones."""
        own = await self._upon(volume)
        there = await self.tools.of_group(volume.group)
        return [each.pv_name for each in there if each.pv_name in own or each.pv_free == each.pv_size]

    async def _upon(self, volume: VolumeName) -> set[str]:
        """The physical volumes that a volume lies upon."""
        pieces = await self.tools.segments(f'vg_name="{volume.group}" && lv_name="{volume.name}"')
        return {device for piece in pieces for device in piece.upon}

    async def _found(self, volume: VolumeName) -> LogicalVolume:
        found = await self.tools.volume(volume.group, volume.name)
        if found is None:
            raise BlockDeviceError(f"{volume.label} does not exist on this node")
        return found


def owners(volume: LogicalVolume) -> list[str]:
    """The tags that say whose a volume is."""
    return [tag for tag in volume.tags if tag.startswith(OWNER)]


def status(volume: VolumeName, found: LogicalVolume) -> BlockDevStatus:
    """What is told of a volume; one that is not active has no device numbers."""
    there = found.lv_kernel_major >= 0
    return BlockDevStatus(
        dev_path=volume.path,
        major=found.lv_kernel_major if there else None,
        minor=found.lv_kernel_minor if there else None,
        ldisk_status=LocalDiskStatus.FAULTY if found.broken else LocalDiskStatus.OK,
        size=found.size,
    )


def register(parts: StorageParts) -> StorageKind:
    """See `kinds.Register`."""
    tools = LvmTools(parts.runner)
    storages = [LogicalVolumes(word.value, tools) for word in driven_by("lvm")]
    return StorageKind(
        storages, {StorageType.LVM_VG.value: VolumeGroups(tools), StorageType.LVM_PV.value: PhysicalVolumes(tools)}
    )
