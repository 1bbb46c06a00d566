"""The confd client on asyncio; it imports no Twisted."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from txaio import aio

from ganeti_tx.confd.client import ConfdClient, Link, Receive
from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.poll import EXPIRY, Peer
from ganeti_tx.model.ip_family import every_address, family_of

_aio: Any = aio  # has no types


class _Socket(asyncio.DatagramProtocol):
    """Hands what comes on to the client."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        self._receive(data, Peer(addr[0], addr[1]))


def client(key: Key, peers: Callable[[], Sequence[Peer]], *, expiry: float = EXPIRY) -> ConfdClient:
    """A client for the running loop; the peers are asked for anew for each question."""
    loop = asyncio.get_running_loop()

    async def open_link(peer: Peer, receive: Receive) -> Link:
        family = family_of(peer.host)
        address = (every_address(family), 0)
        transport, _ = await loop.create_datagram_endpoint(lambda: _Socket(receive), local_addr=address, family=family)

        def send(datagram: bytes, peer: Peer) -> None:
            if not transport.is_closing():
                transport.sendto(datagram, (peer.host, peer.port))  # a failure counts as if it had got lost

        def call_later(delay: float, call: Callable[[], None]) -> Callable[[], None]:
            return loop.call_later(delay, call).cancel

        return Link(send, call_later, transport.close)

    return ConfdClient(_aio.with_config(loop=loop), open_link, key, peers, expiry)
