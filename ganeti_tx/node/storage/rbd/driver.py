"""The template `rbd`: each disk is an image in a pool of Ceph, which all nodes reach."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import define
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_templates import driven_by
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.snapshots import snapshot_id
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import IOwnerMark, ISnapshot, IStream, IUserspaceUri
from ganeti_tx.node.storage.device import Device, look_at
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.node.storage.kinds import StorageKind, StorageParts
from ganeti_tx.node.storage.rbd import command
from ganeti_tx.node.storage.rbd.image import Image, image_of
from ganeti_tx.node.storage.rbd.pools import RadosPools
from ganeti_tx.node.storage.rbd.report import PresentImage
from ganeti_tx.node.storage.rbd.tools import RbdTools
from ganeti_tx.node.storage.taking_back import TakingBack
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.threads import IThreads

#: What is there as long as the node's kernel can have devices for images.
KERNEL_BUS = Path("/sys/bus/rbd")
#: The hypervisor that can do without such a device.
QEMU = "kvm"
#: Under what an image keeps the text that says whose it is.
OWNER_KEY = "ganeti"


@implementer(IStorage, IOwnerMark, ISnapshot, IUserspaceUri, IStream)
@define
class RbdImages:
    """A disk's logical id is ["rbd", image]; its parameters say in which pool that is.

    A disk is ready while the kernel has a device for it. Where the kernel can have none, a disk that hypervisors open themselves
    is ready as soon as it is there; it has no path then.
    """

    template: str
    tools: RbdTools
    files: IFiles
    threads: IThreads
    #: What tells of a device.
    look: Callable[[str], Device | None] = look_at

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`."""
        image = image_of(disk)
        if disk.size <= 0:
            raise BlockDeviceError(f"{image.label} cannot have {disk.size} MiB")
        if await self.tools.find(image) is not None:
            raise BlockDeviceError(f"{image.label} exists already")
        await self.tools.change(command.create(image, disk.size), f"make {image.label} with {disk.size} MiB")

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`. @raise BlockDeviceError: the pool is not there, so nobody knows whether the data are."""
        image = image_of(disk)
        if await self.tools.find(image) is not None:
            await self.tools.change(command.remove(image), f"remove {image.label}", patient=True)

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`; devices, and QEMU where it has the image open, are told by Ceph."""
        image = image_of(disk)
        if amount < 0:
            raise BlockDeviceError(f"{image.label} cannot shrink: {amount} MiB to add")
        found = await self._found(image)
        if amount and not dry_run:
            await self.tools.change(command.resize(image, found.mib + amount), f"grow {image.label} by {amount} MiB")

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`: within its pool. A device would keep the former name."""
        image, new = image_of(disk), image_of(disk, logical_id)
        if await self.tools.device(image) is not None:
            raise BlockDeviceError(f"{image.label} cannot be renamed while it has a device on this node")
        await self.tools.change(command.rename(image, new), f"rename {image.label} to {new.name}")

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`: the kernel gets a device for it, for scripts even where the hypervisor needs none."""
        image = image_of(disk)
        found = await self._found(image)
        device = await self.tools.device(image)
        if device is None and await self._attach(image, needed=not in_userspace(disk)):
            device = await self.tools.device(image)
        return await self._status(disk, image, found, device)

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        image = image_of(disk)
        if (device := await self.tools.device(image)) is not None:
            await self.tools.change(command.detach(device), f"take down {image.label}")

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`."""
        image = image_of(disk)
        if await self.tools.device(image) is not None:
            return True
        return self._without_device(disk) and await self.tools.find(image) is not None

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`."""
        image = image_of(disk)
        found = await self.tools.find(image)
        return None if found is None else await self._status(disk, image, found, await self.tools.device(image))

    async def set_owner(self, disk: DiskSpec, owner: str) -> None:
        """See `IOwnerMark`: `rbd image-meta list` shows it."""
        image = image_of(disk)
        await self.tools.change(command.mark(image, OWNER_KEY, f"originstname+{owner}"), f"mark {image.label}")

    async def snapshot(self, disk: DiskSpec, name: str, size: int) -> list[Any]:
        """See `ISnapshot`: a clone, which has the room that it needs from the pool."""
        image = image_of(disk)
        logical_id = snapshot_id(disk.logical_id or [], name)
        made = image_of(disk, logical_id)
        what = f"make snapshot {made.name} of {image.label}"
        await self.tools.change(command.snapshot(image, name), what)
        async with TakingBack() as back:
            drop = command.drop_snapshot(image, name)
            back.undo(self.tools.change, drop, what)
            await self.tools.change(command.clone(image, name, made), what)
        async with TakingBack() as back:
            back.undo(self.tools.change, command.remove(made), what)
            await self.tools.change(drop, what)
        return logical_id

    async def uri(self, disk: DiskSpec, hypervisor: str) -> str | None:
        """See `IUserspaceUri`. @raise BlockDeviceError: this hypervisor needs a device, and there is none."""
        image = image_of(disk)
        if in_userspace(disk) and hypervisor == QEMU:
            return image.uri(self.tools.conf)
        if in_userspace(disk) and await self.tools.device(image) is None:
            raise BlockDeviceError(
                f"{image.label} has no device on this node, whose kernel has no module rbd; hypervisor {hypervisor} needs one"
            )
        return None

    def read_command(self, disk: DiskSpec) -> Sequence[str]:
        """See `IStream`: with a device or without."""
        return command.read_command(self.tools.conf, image_of(disk))

    def write_command(self, disk: DiskSpec) -> Sequence[str]:
        """See `IStream`."""
        return command.write_command(self.tools.conf, image_of(disk))

    async def _attach(self, image: Image, needed: bool) -> bool:
        """Whether the kernel has a device for it now; the program loads the module if there is one."""
        try:
            await self.tools.change(command.attach(image), f"make a device for {image.label}")
        except BlockDeviceError as error:
            if self.files.exists(KERNEL_BUS):
                raise
            if needed:
                raise BlockDeviceError(
                    f"{error}; the kernel of this node has no module rbd: load it, or let KVM do without (access=userspace)"
                ) from None
            return False
        return True

    async def _found(self, image: Image) -> PresentImage:
        found = await self.tools.find(image)
        if found is None:
            raise BlockDeviceError(f"{image.label} does not exist")
        return found

    async def _status(self, disk: DiskSpec, image: Image, found: PresentImage, device: str | None) -> BlockDevStatus:
        if device is None:
            return BlockDevStatus(dev_path="" if self._without_device(disk) else image.path, size=found.mib)
        try:
            seen = await self.threads.run(self.look, device)
        except OSError as error:
            raise BlockDeviceError(f"{image.label}: {device}: {error.strerror}")
        major, minor = (None, None) if seen is None or seen.number is None else seen.number
        return BlockDevStatus(dev_path=device, size=found.mib, major=major, minor=minor)

    def _without_device(self, disk: DiskSpec) -> bool:
        return in_userspace(disk) and not self.files.exists(KERNEL_BUS)


def in_userspace(disk: DiskSpec) -> bool:
    """Whether hypervisors that can open the image themselves are to do so."""
    return disk.params.get("access") == "userspace"


def register(parts: StorageParts) -> StorageKind:
    """See `kinds.Register`. With a root of their own, nodes have a configuration of Ceph of their own."""
    paths = parts.paths
    conf = None if paths.root == Path("/") else str(paths.ceph_conf)
    tools = RbdTools(parts.runner, parts.clock, conf)
    storages = [RbdImages(word.value, tools, parts.files, parts.threads) for word in driven_by("rbd")]
    return StorageKind(storages, {StorageType.RADOS.value: RadosPools(tools)})
