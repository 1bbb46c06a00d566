"""The confd client on Twisted; the reactor is passed in."""

from collections.abc import Callable, Sequence
from typing import Any

from twisted.internet.error import CannotListenError
from twisted.internet.protocol import DatagramProtocol
from txaio import tx

from ganeti_tx.confd.client import ConfdClient, Link, Receive
from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.messages import MAX_DATAGRAM
from ganeti_tx.confd.poll import EXPIRY, Peer
from ganeti_tx.model.ip_family import every_address, family_of
from ganeti_tx.runtime.reactors import IDatagramReactor


class _Socket(DatagramProtocol):
    """Hands what comes on to the client."""

    noisy = False

    def __init__(self, receive: Receive) -> None:
        self._receive = receive

    def datagramReceived(self, datagram: bytes, addr: tuple[str, int]) -> None:
        self._receive(datagram, Peer(addr[0], addr[1]))

    def send(self, datagram: bytes, peer: Peer) -> None:
        """Send, if there is a way to the peer now."""
        if self.transport is not None:
            try:
                self.transport.write(datagram, (peer.host, peer.port))
            except OSError:
                return  # as if it had got lost: it is sent again


def client(
    reactor: IDatagramReactor, key: Key, peers: Callable[[], Sequence[Peer]], *, expiry: float = EXPIRY
) -> ConfdClient:
    """A client whose questions are coroutines for Twisted; the peers are asked for anew for each question."""

    async def open_link(peer: Peer, receive: Receive) -> Link:
        protocol = _Socket(receive)
        interface = every_address(family_of(peer.host))
        try:
            port: Any = reactor.listenUDP(0, protocol, interface=interface, maxPacketSize=MAX_DATAGRAM)
        except CannotListenError as error:
            raise OSError(*getattr(error.socketError, "args", (str(error),))) from None

        def call_later(delay: float, call: Callable[[], None]) -> Callable[[], None]:
            delayed = reactor.callLater(delay, call)
            return lambda: delayed.cancel() if delayed.active() else None

        return Link(protocol.send, call_later, port.stopListening)

    return ConfdClient(tx, open_link, key, peers, expiry)
