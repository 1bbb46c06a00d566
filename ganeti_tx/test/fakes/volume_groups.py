"""The volume group of a simulated node, upon one physical volume."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field
from msgspec.structs import replace
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.params.node import EXCLUSIVE
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.model.storage_unit import UnitState, VolumePiece
from ganeti_tx.node.storage.interfaces import IPools, PoolSpace
from ganeti_tx.node.storage.pool_abilities import IAllocatable, IMendable, IUnits, IVolumePieces
from ganeti_tx.test.fakes.volumes import FakeVolumes

GROUP, DEVICE = "xenvg", "/dev/sdb"


@implementer(IPools, IUnits, IMendable, IVolumePieces)
@define
class FakeVolumeGroups:
    """One group. `mended` are those that were told to do without what they lost. `lacking`: it has lost something."""

    volumes: FakeVolumes
    mended: list[str] = field(factory=list)
    lacking: bool = False

    async def space(self, name: str, params: Mapping[str, Any]) -> PoolSpace:
        """See `IPools`."""
        if name in self.volumes.lost:
            raise BlockDeviceError(f"volume group {name!r} is not on this node")
        if params.get(EXCLUSIVE):
            each = int(self.volumes.total / self.volumes.physical * 0.98)
            return PoolSpace(size=each * self.volumes.physical, free=each * self.volumes.empty)
        return PoolSpace(size=self.volumes.total, free=self.volumes.free())

    async def fault(self, name: str) -> str | None:
        """See `IPools`."""
        if name in self.volumes.lost:
            return f"volume group {name!r} is not on this node"
        return self._lacking or None

    @property
    def _lacking(self) -> str:
        return f"volume group {GROUP!r} lacks physical volumes" if self.lacking else ""

    async def units(self, places: Sequence[str]) -> Sequence[UnitState]:
        """See `IUnits`."""
        return [replace(self.unit(GROUP), fault=self._lacking)] if GROUP not in self.volumes.lost else []

    def unit(self, name: str, allocatable: bool = True) -> UnitState:
        """The room."""
        total, free = self.volumes.total, self.volumes.free()
        return UnitState(name=name, size=total, used=total - free, free=free, allocatable=allocatable)

    async def fix_consistency(self, name: str) -> None:
        """See `IMendable`."""
        if name != GROUP:
            raise BlockDeviceError(f"volume group {name!r} is not on this node; there are: {GROUP}")
        keys = [key for key, disk in self.volumes.disks.items() if disk.health is LocalDiskStatus.FAULTY]
        if broken := [key.partition("/")[2] for key in keys if key.startswith(f"{name}/")]:
            raise BlockDeviceError(
                f"volume group {name} cannot do without what it lost: parts of {', '.join(broken)} lay there; remove these first"
            )
        self.mended.append(name)
        self.lacking = False

    async def pieces(self) -> Sequence[VolumePiece]:
        """See `IVolumePieces`."""
        return [
            VolumePiece(group=group, name=name, size=disk.size, physical=DEVICE)
            for key, disk in self.volumes.disks.items()
            for group, _, name in (key.partition("/"),)
        ]


@implementer(IPools, IUnits, IAllocatable)
@define
class FakePhysicalVolumes:
    """The one that it lies upon."""

    groups: FakeVolumeGroups
    allocatable: bool = True

    async def space(self, name: str, params: Mapping[str, Any]) -> PoolSpace:
        """See `IPools`."""
        return PoolSpace(size=self.groups.volumes.physical, free=self.groups.volumes.empty)

    async def fault(self, name: str) -> str | None:
        """See `IPools`."""
        return await self.groups.fault(name)

    async def units(self, places: Sequence[str]) -> Sequence[UnitState]:
        """See `IUnits`: the first is the one that can be closed."""
        volumes = self.groups.volumes
        if volumes.physical == 1:
            return [self.groups.unit(DEVICE, self.allocatable)]
        size, used = volumes.total // volumes.physical, volumes.physical - volumes.empty
        return [
            UnitState(name=f"{DEVICE}{number}", size=size, used=size * (number < used), free=size * (number >= used))
            for number in range(volumes.physical)
        ]

    async def set_allocatable(self, name: str, allowed: bool) -> None:
        """See `IAllocatable`."""
        if name != DEVICE:
            raise BlockDeviceError(f"physical volume {name!r} is not on this node; there are: {DEVICE}")
        self.allocatable = allowed
