"""Frames on wires: said and heard in a namespace, with the VLANs that are written on them."""

import socket
import struct

from attrs import define, field
from twisted.internet import reactor
from twisted.internet.task import deferLater

from ganeti_tx.test.real.namespaces import NamespaceRunner

#: To everybody, from nobody in particular; a kind of packet for experiments.
HEAD, KIND = b"\xff" * 6 + bytes.fromhex("0200000000aa"), b"\x88\xb5"
TAGGED = b"\x81\x00"
LENGTH = 64
#: Linux takes tags off, and says so beside a frame (packet(7)).
SOL_PACKET, PACKET_AUXDATA, VLAN_VALID = 263, 8, 1 << 4
BESIDE = struct.Struct("@IIIHHHH")
EVERY_KIND = socket.htons(3)
#: How often a frame is said until it is heard; a new port takes a moment to be there. Seconds between.
TRIES, PAUSE = 100, 0.2

#: A text, and the VLAN that it came with, if any.
Heard = tuple[bytes, int | None]


@define
class Wire:
    """The end of a wire at a guest. @ivar heard: all that has come there since."""

    socket: socket.socket
    heard: set[Heard] = field(factory=set)

    @classmethod
    def at(cls, place: NamespaceRunner, interface: str = "eth0") -> "Wire":
        """At an interface of a namespace."""

        def opened() -> socket.socket:
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, EVERY_KIND)
            made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            made.bind((interface, 0))
            made.setblocking(False)
            return made

        return cls(place.inside(opened))

    def say(self, text: bytes, vlan: int | None) -> None:
        """Send a frame."""
        tag = b"" if vlan is None else TAGGED + vlan.to_bytes(2, "big")
        self.socket.send(HEAD + tag + KIND + text.ljust(LENGTH, b"."))

    def listen(self) -> set[Heard]:
        """All that has come."""
        while True:
            try:
                data, beside, _flags, sender = self.socket.recvmsg(2048, 256)
            except BlockingIOError:
                return self.heard
            if data.startswith(HEAD) and sender[2] != socket.PACKET_OUTGOING:
                self.heard.add((data[-LENGTH:].rstrip(b"."), vlan_of(beside)))


def vlan_of(beside: list[tuple[int, int, bytes]]) -> int | None:
    """The one that a frame came with."""
    for _level, _kind, data in beside:
        status, _length, _snap, _mac, _net, tag, _protocol = BESIDE.unpack(data[: BESIDE.size])
        if status & VLAN_VALID:
            return int(tag & 0xFFF)
    return None


async def passes(sender: Wire, vlan: int | None, receiver: Wire, arrives: int | None, text: bytes) -> bool:
    """Whether what is said in one VLAN is heard in another at last."""
    for _ in range(TRIES):
        sender.say(text, vlan)
        await deferLater(reactor, PAUSE)
        if (text, arrives) in receiver.listen():
            return True
    return False
