"""What a network interface is plugged into on its node."""

import msgspec


class NicLink(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A bridge, a switch, or a routing table, as its mode says; for the first two with VLANs (`model.vlan`)."""

    mode: str
    link: str
    vlan: str = ""
