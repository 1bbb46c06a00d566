"""What only some pools can do: each ability is an interface that is asked for with `providedBy`.

All methods are coroutines and raise BlockDeviceError with one line that names the unit.
"""

from collections.abc import Sequence

from zope.interface import Interface

from ganeti_tx.model.storage_unit import UnitState, VolumePiece


class IUnits(Interface):
    """Pools that can be listed."""

    async def units(places: Sequence[str]) -> Sequence[UnitState]:
        """All of this node. @param places: those of the cluster, where a node cannot find them itself."""


class IAllocatable(Interface):
    """Pools of which each can be kept from being filled further."""

    async def set_allocatable(name: str, allowed: bool) -> None:
        """Whether new disks may lie in it; it may be so already."""


class IMendable(Interface):
    """Pools that can lose a part."""

    async def fix_consistency(name: str) -> None:
        """Go on without what is lost for good. @raise BlockDeviceError: disks lie there; nothing of them is removed."""


class IVolumePieces(Interface):
    """Pools whose disks lie upon devices of the node."""

    async def pieces() -> Sequence[VolumePiece]:
        """Those of all disks, whoever made them; none where there is no such storage on the node."""
