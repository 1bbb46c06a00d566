"""What the driver must know of one mirror: its minor, its two ends, its secret and its parameters."""

from typing import Any, Self

import msgspec
from attrs import field, frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_templates.drbd import TEMPLATE, DrbdParams, resource_of
from ganeti_tx.model.instance_spec import DiskSpec

#: The parts of a mirror's logical id.
PARTS = 6
#: What parameters are called that have another name on the node.
OWN_NAMES = {there: here for here, there in TEMPLATE.on_node.items()}
End = tuple[str, int]


@frozen
class Mirror:
    """One side of a disk; `size` is MiB. `secret` is None where nobody needs it."""

    label: str
    minor: int
    local: End
    peer: End
    size: int
    secret: str | None = field(repr=False)
    params: DrbdParams

    @classmethod
    def of(cls, disk: DiskSpec) -> Self:
        """@raise BlockDeviceError: the disk has no end on this node, or its parameters are none."""
        label = f"{disk.dev_type} disk {disk.uuid}"
        ends, logical_id = disk.ends, disk.logical_id
        if ends is None or logical_id is None or len(logical_id) != PARTS:
            raise BlockDeviceError(f"{label} has no end on this node")
        return cls(
            label=f"{label} (minor {ends.local_minor})",
            minor=ends.local_minor,
            local=(ends.local_address, ends.port),
            peer=(ends.peer_address, ends.port),
            size=disk.size,
            secret=None if logical_id[-1] is None else str(logical_id[-1]),
            params=_params(label, disk.params),
        )

    @property
    def resource(self) -> str:
        """DRBD's name for it."""
        return resource_of(self.minor)

    @property
    def path(self) -> str:
        """Of the device."""
        return f"/dev/drbd{self.minor}"


def _params(label: str, given: dict[str, Any]) -> DrbdParams:
    named = {OWN_NAMES.get(name, name): value for name, value in given.items()}
    known = {name: value for name, value in named.items() if name in DrbdParams.__struct_encode_fields__}
    try:
        return msgspec.convert(known, DrbdParams)
    except msgspec.ValidationError as error:
        raise BlockDeviceError(f"{label}: {error}") from None
