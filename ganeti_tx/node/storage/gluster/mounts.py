"""Mounts volumes of Gluster where disks need them, and unmounts those that none needs any more."""

import errno
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from attrs import define, field
from msgspec.structs import replace
from twisted.internet.defer import DeferredLock
from twisted.logger import Logger

from ganeti_tx.errors import BlockDeviceError, FileStoragePathError
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths, is_below
from ganeti_tx.node.storage.file.beneath import directories
from ganeti_tx.node.storage.gluster.records import MountRecords
from ganeti_tx.node.storage.gluster.volume import GLUSTER, GlusterVolume
from ganeti_tx.node.storage.own_directory import check_own
from ganeti_tx.runtime.mount_table import Mounted, ReadTable, mounted_at, read_table
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner
from ganeti_tx.runtime.threads import IThreads

log = Logger()

#: Seconds that mounting may take: servers that do not answer cost the time that TCP tries.
MOUNT_LIMIT = 60.0
#: What one gets from a file system whose process has ended, or has lost all of its servers.
DEAD = errno.ENOTCONN


def fault_of(directory: Path) -> int | None:
    """The number of the error with which a look at it fails; a file's state the kernel would know for a while yet."""
    try:
        os.statvfs(directory)
    except OSError as error:
        return error.errno
    return None


@define
class GlusterMounts:
    """One volume in one directory. What others have mounted is used, too, if it is the right one, and is left mounted.

    A mount of ours goes when no disk of it is ready and nobody looks at one; what goes wrong then is no fault.
    """

    allowed: AllowedPaths
    records: MountRecords
    runner: IProcessRunner
    threads: IThreads
    table: ReadTable = read_table
    #: What tells the number of the error with which a look at a directory fails.
    look: Callable[[Path], int | None] = fault_of
    _turns: dict[Path, DeferredLock] = field(factory=dict, init=False)
    _users: Counter[Path] = field(factory=Counter, init=False)

    @asynccontextmanager
    async def used(self, volume: GlusterVolume, directory: Path) -> AsyncIterator[None]:
        """The volume is mounted there meanwhile. @raise BlockDeviceError: it cannot be, or another one is."""
        async with self._turn(directory):
            await self._mount(volume, directory)
            self._users[directory] += 1
        try:
            yield
        finally:
            self._users[directory] -= 1

    async def keep(self, directory: Path, uuid: str) -> None:
        """A disk is ready, so that the mount stays."""
        async with self._turn(directory):
            record = self.records.of(directory)
            if uuid not in record.ready:
                await self.records.put(replace(record, ready=(*record.ready, uuid)))

    async def release(self, directory: Path, uuid: str) -> None:
        """A disk is not ready any more; the last one takes the mount along."""
        async with self._turn(directory):
            record = self.records.of(directory)
            if uuid in record.ready:
                record = replace(record, ready=tuple(each for each in record.ready if each != uuid))
                await self.records.put(record)
            await self._unmount_idle(directory)

    def is_kept(self, directory: Path, uuid: str) -> bool:
        """Whether a disk is ready."""
        return uuid in self.records.of(directory).ready

    async def seen(self, directory: Path) -> Mounted | None:
        """What is mounted there. @raise BlockDeviceError: the kernel does not tell."""
        try:
            # Servers that do not answer hold up whoever looks at the directory, be it for a link.
            return await self.threads.run(lambda: mounted_at(self.table(), Path(os.path.realpath(directory))))
        except OSError as error:
            raise BlockDeviceError(f"cannot tell what is mounted on {directory}: {error.strerror}")

    async def leave(self) -> list[str]:
        """Unmount all that is ours; what stays, and why."""
        faults = []
        for record in self.records.all():
            directory = Path(record.directory)
            async with self._turn(directory):
                if record.ours and (fault := await self._unmount(directory)) is not None:
                    faults.append(fault)
        return faults

    async def _mount(self, volume: GlusterVolume, directory: Path) -> None:
        """See to it that the volume is there, and that it is alive."""
        await self.threads.run(self.allowed.check_directory, str(directory))
        if not await self._is_there(volume, directory):
            await self.threads.run(self._make, directory)
            await self.threads.run(self._check_own, directory)
            await self._run_mount(volume, directory)
            if not await self._is_there(volume, directory):
                raise BlockDeviceError(f"{volume.source} was mounted on {directory}, and is not there")
            await self.records.put(replace(self.records.of(directory), ours=True))

    async def _is_there(self, volume: GlusterVolume, directory: Path) -> bool:
        """@raise BlockDeviceError: something else is, and stays."""
        mounted = await self.seen(directory)
        if mounted is None:
            return False
        if mounted == Mounted(GLUSTER, volume.source):
            return await self._answers(directory)
        if await self._unmount_idle(directory):
            return False
        raise BlockDeviceError(
            f"{mounted.source} ({mounted.kind}) is mounted on {directory}, but disks lie on {volume.source}; unmount it once"
            " no instance of this node uses it any more"
        )

    async def _answers(self, directory: Path) -> bool:
        """Whether it does; what is ours and does not is unmounted, but for those that have files of it open.

        @raise BlockDeviceError: it does not, and is not ours.
        """
        if await self.threads.run(self.look, directory) != DEAD:
            return True
        if not self.records.of(directory).ours:
            raise BlockDeviceError(
                f"the volume that is mounted on {directory} does not answer ({os.strerror(DEAD)}); mount it anew once its"
                " servers do"
            )
        log.warn("the volume on {directory} does not answer; mounting it anew", directory=str(directory))
        result = await self.runner.run(["umount", "--lazy", str(directory)], timeout=MOUNT_LIMIT)
        if not result.succeeded:
            raise BlockDeviceError(f"the volume on {directory} does not answer, and umount {result.describe()}")
        return False

    def _check_own(self, directory: Path) -> None:
        """Below the run directory, others could have made it before. @raise BlockDeviceError: they could put disks there."""
        run_dir = self.allowed.paths.run_dir
        for each in (directory, *directory.parents):
            if is_below(each, run_dir):
                check_own(self.allowed.files, each)

    def _make(self, directory: Path) -> None:
        place = self.allowed.place(str(directory / "x"))
        try:
            with directories(place.top, place.below, create=True):
                return
        except OSError as error:
            raise BlockDeviceError(f"cannot make {directory}: {error.strerror}")

    async def _run_mount(self, volume: GlusterVolume, directory: Path) -> None:
        options = f"server-port={volume.port}"
        argv = ["mount", "-t", "glusterfs", "-o", options, volume.source, str(directory)]
        result = await self.runner.run(argv, timeout=MOUNT_LIMIT)
        if not result.succeeded:
            missing = result.status == NOT_FOUND or b"unknown filesystem type" in result.stderr
            hint = "; is the package glusterfs-client installed?" if missing else ""
            raise BlockDeviceError(f"cannot mount {volume.source} on {directory}: mount {result.describe()}{hint}")

    async def _unmount_idle(self, directory: Path) -> bool:
        """Unmount what is ours, unless somebody needs it; whether it is gone."""
        record = self.records.of(directory)
        if not record.ours or record.ready or self._users[directory]:
            return False
        fault = await self._unmount(directory)
        if fault is not None:
            log.info("stays mounted: {fault}", fault=fault)
        return fault is None

    async def _unmount(self, directory: Path) -> str | None:
        """Why it is still mounted."""
        mounted = await self.seen(directory)
        if mounted is not None and mounted.kind == GLUSTER:
            result = await self.runner.run(["umount", str(directory)], timeout=MOUNT_LIMIT)
            if not result.succeeded:
                return f"{directory}: umount {result.describe()}"
        await self.records.put(replace(self.records.of(directory), ours=False, ready=()))
        return None

    @asynccontextmanager
    async def _turn(self, directory: Path) -> AsyncIterator[None]:
        turn = self._turns.setdefault(directory, DeferredLock())
        await turn.acquire()
        try:
            yield
        finally:
            turn.release()


def is_allowed(allowed: AllowedPaths, name: str) -> str | None:
    """Why a directory is not one of those that may be used."""
    try:
        allowed.check_directory(name)
    except FileStoragePathError as error:
        return str(error)
    return None
