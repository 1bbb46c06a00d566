"""The template `ext`: volumes that a provider's scripts make, attach and remove."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, ParamSpec, TypeVar

from attrs import define, field
from msgspec.structs import replace
from twisted.internet.defer import DeferredLock
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_templates import driven_by
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.snapshots import snapshot_id
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import ILook, IMaySnapshot, IOpening, IOwnerMark, ISnapshot, IUserspaceUri
from ganeti_tx.node.storage.device import Device, look_at
from ganeti_tx.node.storage.ext.attached import Attached, AttachedVolumes, parse
from ganeti_tx.node.storage.ext.provider import Providers
from ganeti_tx.node.storage.ext.removed import RemovedVolumes
from ganeti_tx.node.storage.ext.scripts import ProviderScripts
from ganeti_tx.node.storage.ext.volume import Volume, volume_of
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.node.storage.kinds import StorageKind, StorageParts
from ganeti_tx.node.storage.taking_back import TakingBack
from ganeti_tx.runtime.threads import IThreads

log = Logger()

P = ParamSpec("P")
T = TypeVar("T")


@implementer(IStorage, IOwnerMark, ISnapshot, IMaySnapshot, IOpening, IUserspaceUri, ILook)
@define
class ExtStorage:
    """A disk's logical id is [provider, volume]. What is done with one volume is done one after the other.

    No script tells whether a volume is there: one that can be attached is.
    """

    template: str
    scripts: ProviderScripts
    attached: AttachedVolumes
    threads: IThreads
    #: What tells of a device.
    look: Callable[[str], Device | None] = look_at
    _removed: RemovedVolumes = field(factory=RemovedVolumes, init=False)
    _turns: dict[str, DeferredLock] = field(factory=dict, init=False)

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`. What a script that fails has left is for its provider to know."""
        volume = volume_of(disk)
        if disk.size <= 0:
            raise BlockDeviceError(f"{volume.label} cannot have {disk.size} MiB")
        (await self.scripts.provider_of(volume)).check_parameters(volume.parameters)
        async with self._turn(volume):
            self._removed.forget(volume)
            await self.scripts.run("create", volume, {"VOL_SIZE": disk.size})

    async def remove(self, disk: DiskSpec) -> None:
        """See `IStorage`; only the provider's script knows what is gone already, so that its failure is one.

        A volume that can be neither removed nor attached may well be there, and what has it out of reach; unless it was removed
        before, and only what came then has failed.
        """
        volume = volume_of(disk)
        async with self._turn(volume):
            try:
                await self.scripts.run("remove", volume)
            except BlockDeviceError as error:
                await self._check_removed(volume, error)
            self._removed.add(volume)

    async def _check_removed(self, volume: Volume, error: BlockDeviceError) -> None:
        """After a failure to remove it. @raise BlockDeviceError: the same with what else is known, if it may be there."""
        try:
            await self._attach(volume)
        except BlockDeviceError:
            if volume in self._removed:
                return
            raise BlockDeviceError(f"{error}; it cannot be attached, either: it is gone, or out of reach")
        await self._detach_quietly(volume)
        raise BlockDeviceError(f"{error}; it can be attached, so that it is there")

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        volume = volume_of(disk)
        if amount < 0:
            raise BlockDeviceError(f"{volume.label} cannot shrink: {amount} MiB to add")
        async with self._turn(volume):
            present = await self._to_grow(volume)
            if not dry_run:
                sizes = {"VOL_SIZE": present.size, "VOL_NEW_SIZE": present.size + amount}
                await self.scripts.run("grow", volume, sizes)

    async def rename(self, disk: DiskSpec, logical_id: list[Any]) -> None:
        """See `IStorage`."""
        raise BlockDeviceError(f"{volume_of(disk).label} cannot be renamed: providers have no script for it")

    async def assemble(self, disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """See `IStorage`: attached, and opened where an instance may write to it."""
        volume = volume_of(disk)
        async with self._turn(volume), TakingBack() as back:
            before = self.attached.get(volume)
            now = await self._attach(volume)
            if before is None:
                back.undo(self._detach_quietly, volume)
            status = await self._status(volume, now)
            if status is None:
                raise BlockDeviceError(f"{volume.label}: attach printed {now.path}, which is not there")
            opened = before is not None and before.opened
            if primary and not opened:
                await self._open(volume, exclusive=True)
            await self.attached.put(volume, replace(now, opened=opened or primary, size=status.size))
            return status

    async def shutdown(self, disk: DiskSpec) -> None:
        """See `IStorage`."""
        volume = volume_of(disk)
        async with self._turn(volume):
            if (now := self.attached.get(volume)) is not None:
                await self._take_down(volume, now)

    async def _take_down(self, volume: Volume, now: Attached) -> None:
        try:
            await self._close(volume, now)
            await self.scripts.run("detach", volume)
        except BlockDeviceError as error:
            if not await self._is_lost(volume, now):
                raise
            log.warn("{fault}; nothing of it is here any more", fault=str(error))
        self.attached.forget(volume)

    async def _is_lost(self, volume: Volume, now: Attached) -> bool:
        """Whether its device is gone, and it cannot be attached as another one, either, so that nothing here has it."""
        if not now.path or await self._status(volume, now) is not None:
            return False
        try:
            await self._attach(volume)
        except BlockDeviceError:
            return True
        return False

    async def is_ready(self, disk: DiskSpec) -> bool:
        """See `IStorage`."""
        volume = volume_of(disk)
        now = self.attached.get(volume)
        return now is not None and await self._status(volume, now) is not None

    async def find(self, disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """See `IStorage`."""
        volume = volume_of(disk)
        async with self._turn(volume):
            return await self._find(volume)

    async def find_unused(self, disk: DiskSpec) -> BlockDevStatus | None:
        """See `ILook`."""
        volume = volume_of(disk)
        async with self._turn(volume):
            before = self.attached.get(volume)
            status = await self._find(volume)
            if before is None and (now := self.attached.get(volume)) is not None:
                await self._let_go(volume, now)
            return status

    async def _let_go(self, volume: Volume, now: Attached) -> None:
        """After a look. What cannot be detached stays recorded, so that `shutdown` tries it again."""
        try:
            await self._take_down(volume, now)
        except BlockDeviceError as error:
            log.warn("still attached after a look: {fault}", fault=str(error))

    async def set_owner(self, disk: DiskSpec, owner: str) -> None:
        """See `IOwnerMark`."""
        volume = volume_of(disk)
        async with self._turn(volume):
            await self.scripts.run("setinfo", volume, {"VOL_METADATA": f"originstname+{owner}"})

    async def snapshot(self, disk: DiskSpec, name: str, size: int) -> list[Any]:
        """See `ISnapshot`. @raise BlockDeviceError: the provider has none."""
        volume = volume_of(disk)
        if fault := await self.snapshot_fault(disk):
            raise BlockDeviceError(fault)
        made = snapshot_id([volume.provider, volume.name], name)
        told = {"VOL_SIZE": disk.size, "VOL_SNAPSHOT_NAME": made[-1], "VOL_SNAPSHOT_SIZE": size}
        async with self._turn(volume):
            await self.scripts.run("snapshot", volume, told)
        return made

    async def snapshot_fault(self, disk: DiskSpec) -> str | None:
        """See `IMaySnapshot`: each provider has a script for it or has none."""
        volume = volume_of(disk)
        if (await self.scripts.provider_of(volume)).has("snapshot"):
            return None
        return f"{volume.label} cannot have a snapshot: the provider has no script for it"

    async def open(self, disk: DiskSpec, exclusive: bool) -> None:
        """See `IOpening`."""
        volume = volume_of(disk)
        async with self._turn(volume):
            if (now := self.attached.get(volume)) is None:
                raise BlockDeviceError(f"{volume.label} is not attached")
            await self._open(volume, exclusive)
            await self.attached.put(volume, replace(now, opened=True))

    async def close(self, disk: DiskSpec) -> None:
        """See `IOpening`."""
        volume = volume_of(disk)
        async with self._turn(volume):
            if (now := self.attached.get(volume)) is not None:
                await self._close(volume, now)

    async def uri(self, disk: DiskSpec, hypervisor: str) -> str | None:
        """See `IUserspaceUri`. @raise BlockDeviceError: this hypervisor can open neither a path nor a URI."""
        volume = volume_of(disk)
        now = self.attached.get(volume) or Attached("")
        uri = now.uris.get(hypervisor.lower())
        if now.path and disk.params.get("access") != "userspace":
            return None
        if uri is None and not now.path:
            raise BlockDeviceError(f"{volume.label}: attach printed nothing that hypervisor {hypervisor} can open")
        return uri

    async def _attach(self, volume: Volume) -> Attached:
        """@raise BlockDeviceError: it could not be attached, or as nothing that can be used, and is not attached for that."""
        said = await self.scripts.run("attach", volume, answers=True)
        async with TakingBack() as back:
            if self.attached.get(volume) is None:
                back.undo(self._detach_quietly, volume)
            now = parse(said, volume)
        self._removed.forget(volume)
        return now

    async def _detach_quietly(self, volume: Volume) -> None:
        try:
            await self.scripts.run("detach", volume)
        except BlockDeviceError as fault:
            log.warn("could not be taken back: {fault}", fault=str(fault))

    async def _open(self, volume: Volume, exclusive: bool) -> None:
        await self.scripts.run("open", volume, {"VOL_OPEN_EXCLUSIVE": exclusive})

    async def _close(self, volume: Volume, now: Attached) -> None:
        if now.opened:
            await self.scripts.run("close", volume)
            await self.attached.put(volume, replace(now, opened=False))

    async def _find(self, volume: Volume) -> BlockDevStatus | None:
        """Its state by what is recorded, as long as the device is as large as it was then: names are used again."""
        now = self.attached.get(volume)
        status = None if now is None else await self._status(volume, now)
        if now is None or status is None or (now.path and status.size != now.size):
            return await self._probed(volume)
        return status

    async def _probed(self, volume: Volume) -> BlockDevStatus | None:
        """Its state as `attach` tells it now; None when it cannot be attached. @raise BlockDeviceError: nobody here could do that.

        It stays attached, as an instance may run on it that no record tells of; the record lets `shutdown` detach it.
        """
        await self.scripts.provider_of(volume)
        try:
            now = await self._attach(volume)
        except BlockDeviceError as error:
            log.info("not there: {fault}", fault=str(error))
            return None
        async with TakingBack() as back:
            before = self.attached.get(volume)
            if before is None:
                back.undo(self._detach_quietly, volume)
            status = await self._status(volume, now)
            opened, size = before is not None and before.opened, None if status is None else status.size
            await self.attached.put(volume, replace(now, opened=opened, size=size))
        return status

    async def _to_grow(self, volume: Volume) -> BlockDevStatus:
        """Its state as it is now. @raise BlockDeviceError: it is not there, or nobody can tell its size."""
        status = await self._probed(volume)
        if status is None:
            raise BlockDeviceError(f"{volume.label} does not exist")
        if status.size <= 0:
            raise BlockDeviceError(
                f"{volume.label}: {status.dev_path} has {status.size} MiB, from which nothing can grow"
            )
        return status

    async def _status(self, volume: Volume, now: Attached) -> BlockDevStatus | None:
        """Of an attached volume; None when its device is not there. The size of what has none is as it was made."""
        if not now.path:
            return BlockDevStatus(dev_path="", size=volume.disk.size)
        try:
            device = await self.threads.run(self.look, now.path)
        except OSError as error:
            raise BlockDeviceError(f"{volume.label}: {now.path}: {error.strerror}")
        if device is None:
            return None
        major, minor = device.number or (None, None)
        return BlockDevStatus(dev_path=now.path, size=device.size, major=major, minor=minor)

    @asynccontextmanager
    async def _turn(self, volume: Volume) -> AsyncIterator[None]:
        """One at a time for each volume: what is attached, and what is recorded of that, do not part."""
        turn = self._turns.setdefault(volume.key, DeferredLock())
        await turn.acquire()
        try:
            yield
        finally:
            turn.release()
            if not turn.locked:
                self._turns.pop(volume.key, None)


def register(parts: StorageParts) -> StorageKind:
    """See `kinds.Register`."""
    paths = parts.paths
    providers = Providers(parts.files, paths.extstorage_search_path)
    scripts = ProviderScripts(
        providers, paths.log_extstorage_dir, parts.runner, parts.threads, parts.now, parts.open_log
    )
    attached = AttachedVolumes(parts.files, paths.extstorage_dir)
    return StorageKind([ExtStorage(word.value, scripts, attached, parts.threads) for word in driven_by("ext")])
