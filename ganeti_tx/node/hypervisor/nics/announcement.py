"""Telling the neighbours on an interface that this node answers for an address; those who knew another node would go on asking it.

A program of its own, as it speaks to them by frames: run with an interface, the version of IP, and an address. It needs nothing
but Python itself, so that it starts at once.
"""

import socket
import struct
import sys
from pathlib import Path

EVERYBODY = b"\xff" * 6
ALL_NODES, ALL_NODES_MAC = socket.inet_pton(socket.AF_INET6, "ff02::1"), bytes.fromhex("333300000001")
ARP, IPV6, ICMPV6 = 0x0806, 0x86DD, 58
#: An unasked neighbour advertisement (RFC 4861): it counts above what was known; the option has the link-layer address.
ADVERTISEMENT, OVERRIDE, TARGET_LINK_ADDRESS = 136, 0x20000000, 2
#: Receivers take nothing that a router may have passed on.
HOPS = 255
LINK_LOCAL = "20"
VERSION_4, VERSION_6 = "4", "6"


def gratuitous_arp(address: bytes, mac: bytes) -> bytes:
    """A frame that asks everybody for the IPv4 address in its own name (RFC 5227)."""
    head = EVERYBODY + mac + struct.pack("!H", ARP)
    return head + struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + mac + address + bytes(6) + address


def advertisement(address: bytes, mac: bytes, source: bytes) -> bytes:
    """A frame that says whose the IPv6 address is. @param source: an address of the interface's own."""
    unsummed = struct.pack("!BBHI", ADVERTISEMENT, 0, 0, OVERRIDE) + address
    option = struct.pack("!BB", TARGET_LINK_ADDRESS, 1) + mac
    ends = source + ALL_NODES
    length = len(unsummed) + len(option)
    summed = checksum(ends + struct.pack("!II", length, ICMPV6) + unsummed + option)
    message = unsummed[:2] + struct.pack("!H", summed) + unsummed[4:] + option
    header = struct.pack("!IHBB", 6 << 28, length, ICMPV6, HOPS) + ends
    return ALL_NODES_MAC + mac + struct.pack("!H", IPV6) + header + message


def checksum(data: bytes) -> int:
    """The Internet's (RFC 1071), of an even number of bytes."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def link_local(interface: str) -> bytes:
    """The address by which an interface speaks to its neighbours. @raise OSError: it has none."""
    for line in Path("/proc/net/if_inet6").read_text().splitlines():
        packed, _index, _length, scope, _flags, name = line.split()
        if (scope, name) == (LINK_LOCAL, interface):
            return bytes.fromhex(packed)
    raise OSError(f"{interface} has no address of the link")


def announce(interface: str, version: str, address: str) -> None:
    """Say it once, of an address of IP's version 4 or 6. @raise OSError: it cannot be said there."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind((interface, 0))
        mac: bytes = sender.getsockname()[4]
        if version == VERSION_6:
            sender.send(advertisement(socket.inet_pton(socket.AF_INET6, address), mac, link_local(interface)))
        else:
            sender.send(gratuitous_arp(socket.inet_pton(socket.AF_INET, address), mac))


if __name__ == "__main__":
    announce(*sys.argv[1:])
