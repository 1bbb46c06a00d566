"""An address range that NICs take their addresses from."""

from typing import Annotated, Any

import msgspec

from ganeti_tx.model.base import Tracked, nothing

#: One character an address of the range: "1" is taken.
Bitmap = Annotated[str, msgspec.Meta(pattern="^[01]*$")]


class Network(Tracked, frozen=True, kw_only=True):
    """One range: `reservations` are addresses of instances, `ext_reservations` those taken by others."""

    uuid: str
    name: Annotated[str, msgspec.Meta(min_length=1)]
    network: str
    gateway: str | None = None
    network6: str | None = None
    gateway6: str | None = None
    mac_prefix: str | None = None
    reservations: Bitmap | None = None
    ext_reservations: Bitmap | None = None
    tags: tuple[str, ...] = msgspec.field(default_factory=nothing)

    def netinfo(self) -> dict[str, Any]:
        """What nodes must know of it; the bitmaps, which may be large, are none of their business."""
        return {name: getattr(self, name) for name in ("name", "uuid", *VARIABLES.values(), "tags")}


#: What scripts are told of a network's settings behind "NETWORK_", where they are set (Ganeti 3.0 hook table, shared_env).
VARIABLES = {
    "SUBNET": "network",
    "GATEWAY": "gateway",
    "SUBNET6": "network6",
    "GATEWAY6": "gateway6",
    "MAC_PREFIX": "mac_prefix",
}
