"""Listening for guests, and by which of the node's interfaces each of them comes."""

import socket
import struct
from typing import Any

from twisted.internet.error import CannotListenError

#: Of Linux; Python does not name them: linux/in.h.
IP_PKTINFO, IP_PKTOPTIONS, IP_FREEBIND = 8, 9, 15
BACKLOG = 128
#: What stands in front of each thing in a list of them, which the kernel aligns: length, level, kind (cmsg(3)).
_HEAD = struct.Struct("@Nii")
_ALIGNED = struct.calcsize("@N")


def listening(address: str, port: int) -> socket.socket:
    """A socket on which guests are heard, whether any of the node's interfaces has the address yet or not.

    @raise CannotListenError: it cannot be had.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
        made.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)  # connections have it from here
        made.bind((address, port))
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise CannotListenError(address, port, error) from None
    return made


def interface_of(transport: Any) -> str | None:
    """By which interface a connection was opened, as the kernel has seen it; None if it does not tell."""
    try:
        told = transport.getHandle().getsockopt(socket.IPPROTO_IP, IP_PKTOPTIONS, 256)
        index = interface_index(told)
        return None if index is None else socket.if_indextoname(index)
    except OSError:
        return None


def interface_index(told: bytes) -> int | None:
    """The number of the interface in what IP_PKTOPTIONS gives."""
    start = 0
    while start + _HEAD.size <= len(told):
        length, level, kind = _HEAD.unpack_from(told, start)
        if level == socket.IPPROTO_IP and kind == IP_PKTINFO and length >= _HEAD.size + 4:
            return int(struct.unpack_from("@i", told, start + _HEAD.size)[0])
        if length < _HEAD.size:
            break
        start += -(-length // _ALIGNED) * _ALIGNED
    return None
