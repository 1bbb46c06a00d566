"""Text that is an IP address or a network, read in this place only.

A zone ("fe80::1%eth0") is any text to Python's reader, and means something on one machine alone: as with inet_pton(3), it
is not allowed.
"""

import ipaddress
from ipaddress import IPv4Address, IPv6Address, IPv6Network

#: Characters of what somebody gave that an error shows.
SHOWN = 60


def parsed(text: str) -> IPv4Address | IPv6Address:
    """An address of either family. @raise ValueError: the text is none."""
    refuse_zone(text)
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(f"not an IP address: {text[:SHOWN]!r}") from None


def parsed_v6(text: str) -> IPv6Address:
    """An IPv6 address. @raise ValueError: the text is none."""
    refuse_zone(text)
    return IPv6Address(text)


def parsed_range6(text: str, *, strict: bool = True) -> IPv6Network:
    """An IPv6 network. @raise ValueError: the text is none, or `strict` and it has host bits set."""
    refuse_zone(text)
    return IPv6Network(text, strict=strict)


def refuse_zone(text: str) -> None:
    """@raise ValueError: an address has one, or is no text."""
    if not isinstance(text, str):  # Python's reader would take a number
        raise ValueError(f"not an IP address: {text!r:.{SHOWN}}")
    if "%" in text:
        raise ValueError(f"not an IP address: {text[:SHOWN]!r}; one with a zone (%) is not allowed")


def v4_inside(text: str) -> IPv4Address | None:
    """The IPv4 address that an address is a way of writing, such as ::ffff:192.0.2.1. @raise ValueError: the text is none."""
    address = parsed(text)
    return address.ipv4_mapped if isinstance(address, IPv6Address) else None
