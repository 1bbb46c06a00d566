"""The network interfaces of a guest, as its agent tells of them."""

from collections.abc import Sequence

import msgspec


class GuestInterface(msgspec.Struct, frozen=True, kw_only=True):
    """One of them, without its loopback and link-local addresses; an empty `mac` was not told."""

    name: str
    mac: str = ""
    addresses: Sequence[str] = ()


class GuestInterfaces(msgspec.Struct, frozen=True, kw_only=True):
    """Those of one guest. @ivar left_out: how many interfaces and addresses there were more than anybody would read."""

    interfaces: Sequence[GuestInterface] = ()
    left_out: int = 0
