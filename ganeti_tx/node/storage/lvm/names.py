"""Which volume a disk is."""

from typing import Any

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.volume_names import ALLOWED, is_volume_name

#: Suffixes and beginnings that LVM keeps for itself.
RESERVED_PARTS = ("_cdata", "_cmeta", "_corig", "_mlog", "_mimage", "_pmspare", "_rimage", "_rmeta", "_tdata", "_tmeta")
RESERVED_BEGINNINGS = ("snapshot", "pvmove")


@frozen
class VolumeName:
    """A volume by its group and its name there."""

    group: str
    name: str

    @property
    def path(self) -> str:
        """Its device, while it is active."""
        return f"/dev/{self.group}/{self.name}"

    @property
    def label(self) -> str:
        """For people."""
        return f"logical volume {self.group}/{self.name}"

    @property
    def logical_id(self) -> list[Any]:
        """As disks have it."""
        return [self.group, self.name]


def volume_name(logical_id: list[Any] | None) -> VolumeName:
    """@raise BlockDeviceError: it names no volume that LVM could have."""
    parts = logical_id or []
    if len(parts) != 2 or not all(isinstance(part, str) for part in parts):
        raise BlockDeviceError(f"the logical id of a logical volume is [volume group, name], not {logical_id!r}")
    for part in parts:
        if not is_volume_name(part):
            raise BlockDeviceError(f"{part!r} is no name for LVM: {ALLOWED}")
    return VolumeName(*parts)


def check_new(volume: VolumeName) -> None:
    """@raise BlockDeviceError: LVM keeps the name for itself."""
    taken = volume.name.startswith(RESERVED_BEGINNINGS) or any(part in volume.name for part in RESERVED_PARTS)
    if taken:
        raise BlockDeviceError(f"{volume.label} cannot be made: LVM keeps such names for itself")
