"""Messages of DHCP: bytes to values and back (RFC 2131, 2132)."""

import struct
from collections.abc import Mapping
from enum import IntEnum
from ipaddress import IPv4Address

from attrs import field, frozen

_HEAD = struct.Struct("!BBBB4sHH4s4s4s4s16s192x4s")
_COOKIE = b"\x63\x82\x53\x63"
_REQUEST, _REPLY = 1, 2
_PAD, _END = 0, 255
_ETHERNET, _MAC_LENGTH = 1, 6
#: Older clients take no shorter answers.
_SHORTEST = 300
NOWHERE = IPv4Address(0)


class Kind(IntEnum):
    """What a message is for."""

    DISCOVER = 1
    OFFER = 2
    REQUEST = 3
    DECLINE = 4
    ACK = 5
    NAK = 6
    RELEASE = 7
    INFORM = 8


class Option(IntEnum):
    """Those that are read or written."""

    MASK = 1
    HOST_NAME = 12
    WANTED = 50
    LEASE = 51
    KIND = 53
    SERVER = 54


@frozen
class DhcpMessage:
    """One message. @ivar own: the address that the client has already; `given` the one that it gets. Options are raw."""

    kind: Kind
    transaction: bytes
    mac: str
    own: IPv4Address = NOWHERE
    given: IPv4Address = NOWHERE
    options: Mapping[int, bytes] = field(factory=dict)


def decode(data: bytes) -> DhcpMessage | None:
    """What a client says; None for anything else."""
    if len(data) < _HEAD.size:
        return None
    op, hardware, length, _, transaction, _, _, own, *_, address, cookie = _HEAD.unpack_from(data)
    options = read_options(data[_HEAD.size :])
    known = op == _REQUEST and (hardware, length) == (_ETHERNET, _MAC_LENGTH) and cookie == _COOKIE
    told = options.get(Option.KIND, b"")
    if not known or len(told) != 1 or told[0] not in set(Kind):
        return None
    return DhcpMessage(Kind(told[0]), transaction, address[:_MAC_LENGTH].hex(":"), IPv4Address(own), options=options)


def read_options(data: bytes) -> dict[int, bytes]:
    """Up to the end, or to where they make no sense any more; the first of a kind counts."""
    found: dict[int, bytes] = {}
    at = 0
    while at < len(data) and data[at] != _END:
        if data[at] == _PAD:
            at += 1
            continue
        if at + 2 > len(data) or at + 2 + data[at + 1] > len(data):
            break
        found.setdefault(data[at], data[at + 2 : at + 2 + data[at + 1]])
        at += 2 + data[at + 1]
    return found


def encode(message: DhcpMessage) -> bytes:
    """A server's answer, which is sent to everybody on the wire, as the client may have no address yet."""
    mac = bytes.fromhex(message.mac.replace(":", "")).ljust(16, b"\0")
    addresses = (message.own.packed, message.given.packed, NOWHERE.packed, NOWHERE.packed)
    head = _HEAD.pack(_REPLY, _ETHERNET, _MAC_LENGTH, 0, message.transaction, 0, 0x8000, *addresses, mac, _COOKIE)
    options = {int(Option.KIND): bytes([message.kind]), **message.options}
    body = b"".join(bytes([code, len(value)]) + value for code, value in options.items())
    return (head + body + bytes([_END])).ljust(_SHORTEST, b"\0")
