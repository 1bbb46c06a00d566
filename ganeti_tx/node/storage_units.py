"""Node calls about storage units."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen
from zope.interface.interface import InterfaceClass

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.storage_unit import FIX_CONSISTENCY, UnitState, VolumePiece
from ganeti_tx.node.answers import answers
from ganeti_tx.node.storage.interfaces import IPools
from ganeti_tx.node.storage.pool_abilities import IAllocatable, IMendable, IUnits, IVolumePieces
from ganeti_tx.rpc.calls.storage import NodeVolumes, StorageExecute, StorageList, StorageModify


@frozen
class StorageUnits:
    """The units of this node, by their storage type."""

    pools: Mapping[str, IPools]

    @answers(StorageList)
    async def list_units(self, call: StorageList) -> list[UnitState]:
        """What there is."""
        units = await self._able(IUnits, call.storage_type, "be listed").units(call.places)
        return [each for each in units if call.unit is None or each.name == call.unit]

    @answers(StorageModify)
    async def modify(self, call: StorageModify) -> None:
        """Change one."""
        pools = self._able(IAllocatable, call.storage_type, "be changed")
        await pools.set_allocatable(call.unit, call.allocatable)

    @answers(StorageExecute)
    async def mend(self, call: StorageExecute) -> None:
        """Mend one."""
        if call.operation != FIX_CONSISTENCY:
            raise BlockDeviceError(f"unknown operation {call.operation!r} on storage units; there is {FIX_CONSISTENCY}")
        await self._able(IMendable, call.storage_type, "be mended").fix_consistency(call.unit)

    @answers(NodeVolumes)
    async def volumes(self, call: NodeVolumes) -> list[VolumePiece]:
        """Of all volume groups; none on a node without."""
        pools: Any = self.pools.get(StorageType.LVM_VG.value)
        return list(await pools.pieces()) if IVolumePieces.providedBy(pools) else []

    def _able(self, ability: InterfaceClass, kind: str, what: str) -> Any:
        """The pools of a type. @raise BlockDeviceError: they cannot."""
        pools = self.pools.get(kind)
        if not ability.providedBy(pools):
            able = ", ".join(sorted(name for name, each in self.pools.items() if ability.providedBy(each)))
            raise BlockDeviceError(f"storage units of type {kind!r} cannot {what} on this node; these can: {able}")
        return pools
