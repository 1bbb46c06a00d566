"""Pools that are directories in which volumes of Gluster are mounted: the storage type `gluster`."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.storage_unit import UnitState
from ganeti_tx.node.storage.device import MIB
from ganeti_tx.node.storage.gluster.mounts import GlusterMounts, is_allowed
from ganeti_tx.node.storage.gluster.volume import GLUSTER
from ganeti_tx.node.storage.interfaces import IPools, PoolSpace
from ganeti_tx.node.storage.pool_abilities import IUnits

#: What mounts volumes.
PROGRAM = "mount.glusterfs"
PLACES = ("/sbin", "/usr/sbin", "/usr/local/sbin")


@implementer(IPools, IUnits)
@frozen
class GlusterPools:
    """A pool's name is the directory; its room is that of the volume while this is mounted, and not known else."""

    mounts: GlusterMounts

    async def space(self, name: str, params: Mapping[str, Any]) -> PoolSpace:
        """See `IPools`."""
        room = await self._room(name)
        return PoolSpace(size=room.f_blocks * room.f_frsize // MIB, free=room.f_bavail * room.f_frsize // MIB)

    async def fault(self, name: str) -> str | None:
        """See `IPools`."""
        if (fault := await self.mounts.threads.run(is_allowed, self.mounts.allowed, name)) is not None:
            return fault
        mounted = await self.mounts.seen(Path(name))
        if mounted is not None and mounted.kind != GLUSTER:
            return f"{mounted.source} ({mounted.kind}) is mounted on {name!r}, which is no volume of Gluster"
        if not any(self.mounts.allowed.files.exists(Path(place) / PROGRAM) for place in PLACES):
            return f"{PROGRAM} is not on this node (package glusterfs-client)"
        return None

    async def units(self, places: Sequence[str]) -> Sequence[UnitState]:
        """See `IUnits`: the cluster's directories."""
        return [await self._unit(place) for place in places]

    async def _unit(self, name: str) -> UnitState:
        try:
            room = await self._room(name)
        except BlockDeviceError as error:
            return UnitState(name=name, size=0, used=0, free=0, fault=str(error))
        return UnitState(
            name=name,
            size=room.f_blocks * room.f_frsize // MIB,
            used=(room.f_blocks - room.f_bfree) * room.f_frsize // MIB,
            free=room.f_bavail * room.f_frsize // MIB,
        )

    async def _room(self, name: str) -> os.statvfs_result:
        mounted = await self.mounts.seen(Path(name))
        if mounted is None or mounted.kind != GLUSTER:
            raise BlockDeviceError(
                f"no volume of Gluster is mounted on {name}; the first disk that is needed will have it so"
            )
        try:
            return await self.mounts.threads.run(os.statvfs, name)
        except OSError as error:
            raise BlockDeviceError(f"cannot tell the room in {name!r}: {error.strerror}")
