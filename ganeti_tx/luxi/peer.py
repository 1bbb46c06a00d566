"""Who is at the other end of a unix socket, as the kernel says."""

import socket
import struct
from typing import NamedTuple

from twisted.internet.interfaces import ISystemHandle, ITransport

_CREDENTIALS = struct.Struct("3i")


class Peer(NamedTuple):
    """The process that connected; the id may since have been given to another process."""

    pid: int
    uid: int
    gid: int


def peer_of(transport: ITransport) -> Peer | None:
    """The peer of a unix socket's transport, None where the transport is something else."""
    if not ISystemHandle.providedBy(transport):
        return None
    handle = transport.getHandle()
    if not isinstance(handle, socket.socket) or handle.family != socket.AF_UNIX:
        return None
    return Peer(*_CREDENTIALS.unpack(handle.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)))
