"""Which IP addresses are this machine's, and its interfaces'."""

import errno
import fcntl
import socket
import struct
from collections.abc import Iterator
from ipaddress import IPv6Address
from pathlib import Path

from ganeti_tx.model.ip_address import parsed_v6
from ganeti_tx.model.ip_family import family_of

#: Asks Linux for the IPv4 address of an interface (netdevice(7)).
SIOCGIFADDR = 0x8915
_REQUEST = struct.Struct("16s4x4s16x")
#: Where Linux lists the IPv6 addresses of all interfaces.
IF_INET6 = Path("/proc/net/if_inet6")


def is_own_address(address: str) -> bool:
    """Whether a socket can be bound to it, which also holds for all of 127.0.0.0/8."""
    with socket.socket(family_of(address), socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
        return True


def address_of(interface: str, family: socket.AddressFamily = socket.AF_INET) -> str:
    """The address of a network interface such as "lo" in a family; no link-local one. @raise OSError: there is none."""
    if family == socket.AF_INET6:
        found = [address for name, address in ipv6_addresses() if name == interface and not address.is_link_local]
        if not found:
            raise OSError(errno.EADDRNOTAVAIL, "no IPv6 address besides the link-local one")
        return str(found[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        told = fcntl.ioctl(probe, SIOCGIFADDR, _REQUEST.pack(interface.encode()[:15], b""))
    _, address = _REQUEST.unpack(told)
    return socket.inet_ntoa(address)


def interface_with(address: str) -> str | None:
    """The network interface that has an address."""
    if family_of(address) == socket.AF_INET6:
        return next((name for name, found in ipv6_addresses() if found == parsed_v6(address)), None)
    for _index, name in socket.if_nameindex():
        try:
            if address_of(name) == address:
                return name
        except OSError:  # it has none
            continue
    return None


def ipv6_addresses() -> list[tuple[str, IPv6Address]]:
    """Every IPv6 address with its interface; none where the kernel knows no IPv6."""
    return list(parse_if_inet6(IF_INET6.read_text())) if IF_INET6.exists() else []


def parse_if_inet6(text: str) -> Iterator[tuple[str, IPv6Address]]:
    """The lines of Linux's list: address, and in hexadecimal index, prefix length, scope and flags; then the interface."""
    for line in text.splitlines():
        address, *_, interface = line.split()
        yield interface, IPv6Address(bytes.fromhex(address))
