"""Volume groups as pools."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError, error_text
from ganeti_tx.node.storage.interfaces import IPools, PoolSpace
from ganeti_tx.node.storage.lvm.report import MIB
from ganeti_tx.node.storage.lvm.tools import LvmTools


@implementer(IPools)
@frozen
class VolumeGroups:
    """A pool's name is that of a volume group."""

    tools: LvmTools

    async def space(self, name: str, params: Mapping[str, Any]) -> PoolSpace:
        """See `IPools`."""
        group = await self.tools.group(name)
        return PoolSpace(size=group.vg_size // MIB, free=group.vg_free // MIB)

    async def fault(self, name: str) -> str | None:
        """See `IPools`."""
        try:
            await self.tools.group(name)
        except BlockDeviceError as error:
            return error_text(error)
        return None
