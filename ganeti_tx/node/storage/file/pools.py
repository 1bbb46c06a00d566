"""Pools that are directories: the storage types `file` and `sharedfile`."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError, FileStoragePathError
from ganeti_tx.model.storage_unit import UnitState
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.beneath import directories
from ganeti_tx.node.storage.interfaces import IPools, PoolSpace
from ganeti_tx.node.storage.pool_abilities import IUnits
from ganeti_tx.runtime.threads import IThreads

MIB = 1 << 20
#: The unit of st_blocks (stat(2)).
BLOCK = 512


@implementer(IPools, IUnits)
@frozen
class DirectoryPools:
    """A pool's name is its directory, a listed one or below one; it need not be there before the first disk is."""

    allowed: AllowedPaths
    threads: IThreads

    async def space(self, name: str, params: Mapping[str, Any]) -> PoolSpace:
        """See `IPools`: of the file system that has the directory, or will have it once there is a disk."""
        try:
            return await self.threads.run(self._space, name)
        except FileStoragePathError as error:
            raise BlockDeviceError(str(error))
        except OSError as error:
            raise BlockDeviceError(f"cannot tell the room in {name!r}: {error.strerror}")

    async def fault(self, name: str) -> str | None:
        """See `IPools`."""
        return await self.threads.run(self._fault, name)

    async def units(self, places: Sequence[str]) -> Sequence[UnitState]:
        """See `IUnits`: the cluster's directories, each with the room of its file system and what is used below it."""
        return [await self._unit(place) for place in places]

    async def _unit(self, name: str) -> UnitState:
        try:
            return await self.threads.run(self._measured, name)
        except FileStoragePathError as error:
            raise BlockDeviceError(str(error))
        except OSError as error:
            raise BlockDeviceError(f"cannot look into {name!r}: {error.strerror}")

    def _measured(self, name: str) -> UnitState:
        path = self.allowed.check_directory(name)
        place = self.allowed.place(f"{name.rstrip('/')}/x")
        room = self._room(place.top, place.below)
        return UnitState(
            name=name,
            size=room.f_blocks * room.f_frsize // MIB,
            used=used_below(path) // MIB,  # nothing, where the directory is to come with the first disk
            free=room.f_bavail * room.f_frsize // MIB,
        )

    def _space(self, name: str) -> PoolSpace:
        place = self.allowed.place(f"{name.rstrip('/')}/x")
        room = self._room(place.top, place.below)
        return PoolSpace(
            size=room.f_blocks * room.f_frsize // MIB,
            free=room.f_bavail * room.f_frsize // MIB,
        )

    def _room(self, directory: Path, below: Sequence[str]) -> os.statvfs_result:
        """Of the deepest directory that is there; above a listed one that is to come nothing is ever written."""
        for depth in range(len(below), -1, -1):
            with suppress(FileNotFoundError), directories(directory, below[:depth]) as way:
                return os.fstatvfs(way[-1])
        while not directory.exists() and directory != directory.parent:
            directory = directory.parent
        return os.statvfs(directory)

    def _fault(self, name: str) -> str | None:
        try:
            path = self.allowed.check_directory(name)
        except FileStoragePathError as error:
            return str(error)
        if self.allowed.files.exists(path) and not self.allowed.files.stat(path).is_directory:
            return f"file storage path {name!r} is no directory"
        return None


def used_below(directory: Path) -> int:
    """Bytes that a tree takes up; links are not followed, and what goes away meanwhile does not count."""
    total = 0
    for parent, inner, files in os.walk(directory):
        for name in (*inner, *files):
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_blocks * BLOCK
    return total
