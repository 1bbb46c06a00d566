"""A network in memory: servers that answer, are silent, lie, or are late; a link into it for clients on Twisted."""

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field
from twisted.internet.task import Clock
from txaio import tx

from ganeti_tx.confd.client import ConfdClient, Link, Receive
from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.poll import Peer
from ganeti_tx.confd.protocol import Present, respond
from ganeti_tx.test.confd.cases import KEY, NOW, present

#: What a server sends back for a datagram, each with the seconds that it takes.
Server = Callable[[bytes], list[tuple[bytes, float]]]


def honest(state: Present | None = None, delay: float = 0.0) -> Server:
    """One that answers as our own does."""
    answering = state or present()

    def serve(datagram: bytes) -> list[tuple[bytes, float]]:
        reply = respond(answering, datagram, NOW)
        return [] if reply is None else [(reply, delay)]

    return serve


def silent(datagram: bytes) -> list[tuple[bytes, float]]:
    """One that does not answer."""
    return []


@define
class Network:
    """Carries datagrams on a clock. The servers may be exchanged at any time."""

    clock: Clock
    servers: dict[Peer, Server] = field(factory=dict)
    #: To whom something was sent, in order.
    sent: list[Peer] = field(factory=list, init=False)
    #: How many links are open.
    open: int = field(default=0, init=False)

    async def link(self, peer: Peer, receive: Receive) -> Link:
        """As a client opens it; there is no IPv6."""
        if ":" in peer.host:
            raise OSError(97, "no such family")
        self.open += 1

        def send(datagram: bytes, to: Peer) -> None:
            self.sent.append(to)
            for reply, delay in self.servers.get(to, silent)(datagram):
                self.clock.callLater(delay, receive, reply, to)

        def call_later(delay: float, call: Callable[[], None]) -> Callable[[], None]:
            delayed = self.clock.callLater(delay, call)
            return lambda: delayed.cancel() if delayed.active() else None

        def close() -> None:
            self.open -= 1

        return Link(send, call_later, close)

    def client(self, peers: Sequence[Peer] | None = None, key: Key = KEY) -> ConfdClient:
        """One that asks these, or all servers, in their order."""
        asked = list(self.servers) if peers is None else list(peers)
        first: Any = lambda among, count: among[:count]  # noqa: E731
        return ConfdClient(tx, self.link, key, lambda: asked, now=lambda: NOW, choose=first)
