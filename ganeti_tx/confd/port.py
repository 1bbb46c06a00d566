"""A UDP port for many small datagrams."""

import socket
from typing import Any

from twisted.internet import udp
from twisted.internet.interfaces import IReactorFDSet
from twisted.logger import Logger

from ganeti_tx.confd.messages import MAX_REQUEST

log = Logger()

#: So many datagrams are taken at once; then others of the reactor have their turn. Twisted counts bytes instead, so that
#: empty datagrams that come quicker than they are read could keep everybody else out.
AT_ONCE = 256
#: Bytes that the kernel keeps of datagrams not yet read: enough for some thousand of them, while a new configuration
#: is being read. More than the system allows is asked for by force, which only root may.
RECEIVE_BUFFER = 8 * 1024 * 1024
SO_RCVBUFFORCE = 33


class ConfdPort(udp.Port):
    """Reads a bounded number of datagrams at once, and drops what cannot be sent."""

    def __init__(self, port: int, protocol: Any, interface: str, reactor: IReactorFDSet) -> None:
        super().__init__(port, protocol, interface, MAX_REQUEST, reactor)

    def createInternetSocket(self) -> socket.socket:
        """Called by Twisted before it binds."""
        made: socket.socket = super().createInternetSocket()
        widen(made)
        return made

    def doRead(self) -> None:
        """Called by the reactor when there is something to read."""
        receive, take = self.socket.recvfrom, self.protocol.datagramReceived
        for _ in range(AT_ONCE):
            try:
                datagram, address = receive(MAX_REQUEST)
            except OSError:
                return  # nothing more, or that a reply found nobody
            try:
                take(datagram, address)
            except Exception:
                log.failure("a datagram was not answered")

    def write(self, datagram: bytes, addr: Any = None) -> None:
        """Send it, unless the system cannot now: the client asks again."""
        try:
            self.socket.sendto(datagram, addr)
        except OSError:
            return


def widen(made: socket.socket) -> None:
    """Let the kernel keep as much of what comes in as it allows us."""
    try:
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
    except PermissionError:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
