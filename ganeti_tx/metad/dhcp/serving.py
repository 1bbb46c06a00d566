"""Hearing and answering guests at their interfaces, as long as they are known."""

import socket
from collections.abc import Callable
from socket import if_nametoindex
from typing import Any, Protocol

from attrs import define, field, frozen
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import DatagramProtocol
from twisted.logger import Logger

from ganeti_tx.metad.dhcp.answers import answer
from ganeti_tx.metad.dhcp.packet import decode, encode
from ganeti_tx.metad.guests import Guest
from ganeti_tx.model.instance_communication import DHCP_PORT

log = Logger()

CLIENT_PORT = 68
#: Who has no address yet hears only what everybody hears.
EVERYBODY = ("255.255.255.255", CLIENT_PORT)
#: Of a message.
LONGEST = 1500


class IListening(Protocol):
    """What was opened."""

    def stopListening(self) -> Any:
        """Close it."""


#: Opens a protocol's port at an interface. @raise OSError: it cannot be opened.
Open = Callable[[str, DatagramProtocol], IListening]
#: The kernel's number of an interface, which no other has had before it. @raise OSError: there is none of this name.
Number = Callable[[str], int]


class Answering(DatagramProtocol):
    """The port at one guest's interface."""

    def __init__(self, guest: Guest, clock: IReactorTime) -> None:
        self._guest = guest
        self._clock = clock

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        asked = decode(datagram)
        if asked is None or not self._guest.bucket.take(self._clock.seconds()):
            return
        told = answer(self._guest.facts, asked)
        if told is not None and self.transport is not None:
            self.transport.write(encode(told), EVERYBODY)


@frozen
class Opened:
    """A port, and the number of its interface: one made anew with the same name is another, where the port hears nothing."""

    number: int
    port: IListening


@define(eq=False)
class AddressService:
    """All of them. Where somebody else answers already, such as the administrator's own server, he goes on doing so."""

    open: Open
    clock: IReactorTime
    number: Number = if_nametoindex
    _ports: dict[str, Opened] = field(factory=dict)

    def serve(self, guest: Guest) -> None:
        """See Served."""
        interface = guest.facts.interface
        try:
            number = self.number(interface)
            if (before := self._ports.get(interface)) is not None and before.number == number:
                return
            self.leave(interface)
            self._ports[interface] = Opened(number, self.open(interface, Answering(guest, self.clock)))
        except OSError as error:
            log.warn("no addresses are told at {interface}: {why}", interface=interface, why=error.strerror)

    def leave(self, interface: str) -> None:
        """See Served."""
        opened = self._ports.pop(interface, None)
        if opened is not None:
            maybeDeferred(opened.port.stopListening)

    def stop(self) -> None:
        """Leave all."""
        for interface in list(self._ports):
            self.leave(interface)


def port_at(interface: str) -> socket.socket:
    """A socket that hears one interface only. @raise OSError: it cannot be had."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode() + b"\0")
        made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        made.bind(("", DHCP_PORT))
    except OSError:
        made.close()
        raise
    return made
