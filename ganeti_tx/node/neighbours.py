"""Telling the neighbours which machine has an IPv6 address now: those who knew another one would go on asking it."""

import fcntl
import socket
import struct
from collections.abc import Callable

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.model.ip_address import parsed_v6

log = Logger()

#: How often it is said, as RFC 4861 has it, and seconds between.
TIMES, INTERVAL = 3, 1.0
#: The type of a neighbour advertisement, its flag "override", and the option with the sender's link-layer address.
NEIGHBOUR_ADVERTISEMENT, OVERRIDE, TARGET_LINK_ADDRESS = 136, 0x20000000, 2
ALL_NODES = "ff02::1"
#: Receivers take nothing that a router may have passed on.
HOPS = 255
#: Asks Linux for the link-layer address of an interface, and the kind that Ethernet's are (netdevice(7)).
SIOCGIFHWADDR, ARPHRD_ETHER = 0x8927, 1
_REQUEST = struct.Struct("16sH6s16x")


def advertisement(address: str, link_address: bytes) -> bytes:
    """An unasked neighbour advertisement without its checksum, which the kernel fills in."""
    head = struct.pack("!BBHI", NEIGHBOUR_ADVERTISEMENT, 0, 0, OVERRIDE)
    option = struct.pack("!BB", TARGET_LINK_ADDRESS, 1) + link_address  # in units of eight bytes
    return head + parsed_v6(address).packed + option


def link_address_of(interface: str) -> bytes:
    """That of an Ethernet interface; empty for others, such as "lo". @raise OSError: there is no such interface."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        told = fcntl.ioctl(probe, SIOCGIFHWADDR, _REQUEST.pack(interface.encode()[:15], 0, b""))
    _, kind, found = _REQUEST.unpack(told)
    return found if kind == ARPHRD_ETHER else b""


def advertise(address: str, interface: str) -> None:
    """Say it once. @raise OSError: the interface does not have the address, or no such packet may be sent."""
    link_address = link_address_of(interface)
    if not link_address:
        return
    index = socket.if_nametoindex(interface)
    with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as sender:
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, HOPS)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        sender.bind((address, 0))
        sender.sendto(advertisement(address, link_address), (ALL_NODES, 0, 0, index))


@define
class Announcements:
    """Says it some times; what cannot be said is logged, as the address is there all the same."""

    clock: IReactorTime
    say: Callable[[str, str], None] = advertise

    def __call__(self, address: str, interface: str) -> None:
        """Begin."""
        self._go_on(address, interface, TIMES)

    def _go_on(self, address: str, interface: str, left: int) -> None:
        try:
            self.say(address, interface)
        except OSError as error:  # or it was given up meanwhile
            log.warn(
                "the neighbours on {interface} are not told who has {address}: {why}",
                interface=interface, address=address, why=error.strerror or str(error),
            )  # fmt: skip
            return
        if left > 1:
            self.clock.callLater(INTERVAL, self._go_on, address, interface, left - 1)


def say_nothing(address: str, interface: str) -> None:
    """Where nobody listens."""
