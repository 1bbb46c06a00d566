"""Volume groups and physical volumes as pools and storage units."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError, error_text
from ganeti_tx.model.params.node import EXCLUSIVE
from ganeti_tx.model.storage_unit import UnitState, VolumePiece
from ganeti_tx.node.storage.interfaces import IPools, PoolSpace
from ganeti_tx.node.storage.lvm import command
from ganeti_tx.node.storage.lvm.placement import emptiest, free, usable
from ganeti_tx.node.storage.lvm.report import MIB, Group, Physical
from ganeti_tx.node.storage.lvm.tools import LvmTools, NotInstalledError
from ganeti_tx.node.storage.pool_abilities import IAllocatable, IMendable, IUnits, IVolumePieces


@implementer(IPools, IUnits, IMendable, IVolumePieces)
@frozen
class VolumeGroups:
    """A pool's name is that of a volume group."""

    tools: LvmTools

    async def space(self, name: str, params: Mapping[str, Any]) -> PoolSpace:
        """See `IPools`; what is free on physical volumes that are closed to new volumes is not."""
        group = await self.tools.group(name)
        physical = await self.tools.of_group(name)
        if params.get(EXCLUSIVE):
            return exclusive_space(physical)
        return PoolSpace(size=group.vg_size // MIB, free=free(emptiest(physical)) // MIB)

    async def fault(self, name: str) -> str | None:
        """See `IPools`: it is not there, or lacks a physical volume."""
        try:
            group = await self.tools.group(name)
        except BlockDeviceError as error:
            return error_text(error)
        return lacking(group) or None

    async def units(self, places: Sequence[str]) -> Sequence[UnitState]:
        """See `IUnits`."""
        return [
            UnitState(
                name=group.vg_name,
                size=group.vg_size // MIB,
                used=(group.vg_size - group.vg_free) // MIB,
                free=group.vg_free // MIB,
                fault=lacking(group),
            )
            for group in await self.tools.groups()
        ]

    async def fix_consistency(self, name: str) -> None:
        """See `IMendable`: physical volumes that are not there are forgotten, unless logical ones lie on them."""
        await self.tools.group(name)
        try:
            await self.tools.change(command.without_missing(name), f"mend volume group {name}")
        except BlockDeviceError as error:
            if broken := [each.lv_name for each in await self.tools.volumes(name) if each.broken]:
                raise BlockDeviceError(
                    f"volume group {name} cannot do without what it lost: parts of {', '.join(broken)} lay there;"
                    " remove these first"
                ) from None
            raise error

    async def pieces(self) -> Sequence[VolumePiece]:
        """See `IVolumePieces`."""
        try:
            segments = await self.tools.segments()
        except NotInstalledError:
            return []
        found = {(each.vg_name, each.lv_name, device): each for each in segments for device in each.upon}
        return [
            VolumePiece(group=group, name=name, size=each.lv_size // MIB, physical=device)
            for (group, name, device), each in sorted(found.items())
        ]


def lacking(group: Group) -> str:
    """What is wrong with a group, if anything."""
    if not group.partial:
        return ""
    return f"volume group {group.vg_name!r} lacks physical volumes; 'gnt-node repair-storage' makes it do without them"


def exclusive_space(physical: Sequence[Physical]) -> PoolSpace:
    """What disks can have that share their physical volumes with none."""
    empty = [each for each in emptiest(physical) if each.pv_free == each.pv_size]
    return PoolSpace(size=usable(physical) // MIB, free=usable(empty) // MIB)


@implementer(IPools, IUnits, IAllocatable)
@frozen
class PhysicalVolumes:
    """A pool's name is that of a volume group; its room is counted in physical volumes: all, and those that are empty."""

    tools: LvmTools

    async def space(self, name: str, params: Mapping[str, Any]) -> PoolSpace:
        """See `IPools`, but the unit: one physical volume is one spindle."""
        await self.tools.group(name)
        there = await self.tools.of_group(name)
        empty = [each for each in there if each.allocatable and each.pv_free == each.pv_size]
        return PoolSpace(size=len(there), free=len(empty))

    async def fault(self, name: str) -> str | None:
        """See `IPools`."""
        return await VolumeGroups(self.tools).fault(name)

    async def units(self, places: Sequence[str]) -> Sequence[UnitState]:
        """See `IUnits`: those that are there of all volume groups, or of the ones that are named."""
        there = [each for each in await self.tools.physical() if each.vg_name and not each.missing]
        return [unit(each) for each in there if not places or each.vg_name in places]

    async def set_allocatable(self, name: str, allowed: bool) -> None:
        """See `IAllocatable`."""
        found = {each.pv_name: each for each in await self.tools.physical() if each.vg_name and not each.missing}
        if name not in found:
            there = ", ".join(sorted(found)) or "none"
            raise BlockDeviceError(f"physical volume {name!r} is not on this node; there are: {there}")
        if found[name].allocatable != allowed:
            argv = command.allocatable(name, allowed)
            await self.tools.change(argv, f"{'open' if allowed else 'close'} physical volume {name} for new volumes")


def unit(physical: Physical) -> UnitState:
    """A physical volume as storage unit."""
    return UnitState(
        name=physical.pv_name,
        size=physical.pv_size // MIB,
        used=physical.pv_used // MIB,
        free=physical.pv_free // MIB,
        allocatable=physical.allocatable,
    )
