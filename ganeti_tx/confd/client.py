"""The client for programs that wait without blocking, on Twisted or asyncio.

Make one with `ganeti_tx.confd.on_twisted.client` or `ganeti_tx.confd.on_asyncio.client`.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from random import SystemRandom
from socket import AddressFamily
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from attrs import define, field

from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.inquiry import inquiry
from ganeti_tx.confd.poll import ASK_AGAIN, COVERAGE, EXPIRY, Answer, Peer, Poll, no_socket, signed_reply
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError
from ganeti_tx.model.ip_family import family_of

T = TypeVar("T")


class Link(NamedTuple):
    """What is done to a socket, without ever failing; and its clock, which gives what takes a call back."""

    send: Callable[[bytes, Peer], None]
    call_later: Callable[[float, Callable[[], None]], Callable[[], None]]
    close: Callable[[], None]


#: What is called with each datagram and its sender.
Receive = Callable[[bytes, Peer], None]
#: Opens a socket for the family of a peer, or fails with OSError.
OpenLink = Callable[[Peer, Receive], Awaitable[Link]]


def some(peers: Sequence[Peer], count: int) -> Sequence[Peer]:
    """So many of the peers, by chance."""
    return SystemRandom().sample(peers, min(count, len(peers)))


@define(eq=False)
class ConfdClient:
    """Asks several servers at once; questions may overlap."""

    #: txaio's interface for Twisted or asyncio.
    framework: Any
    open_link: OpenLink
    key: Key
    #: Whom to ask; called for each question, as candidates come and go.
    peers: Callable[[], Sequence[Peer]]
    #: Seconds that the servers have.
    expiry: float = EXPIRY
    now: Callable[[], float] = time.time
    new_salt: Callable[[], str] = lambda: str(uuid4())
    choose: Callable[[Sequence[Peer], int], Sequence[Peer]] = some
    _open: dict[str, tuple[Poll, Any]] = field(factory=dict, init=False)
    _links: dict[AddressFamily, Link] = field(factory=dict, init=False)

    async def ask(self, question: Question[T]) -> Answer[T]:
        """The newest answer to one of `ganeti_tx.confd.questions`.

        @raise ConfdClientError: there is nobody to ask, nobody has answered in time, or the answer is an error.
        """
        peers = self.choose(self.peers(), COVERAGE)
        if not peers:
            raise ConfdClientError("there is no peer to ask")
        polls = inquiry(self._new_poll, question, peers, self.expiry)
        while True:
            try:
                poll = next(polls)
            except StopIteration as end:
                answer: Answer[T] = end.value
                return answer
            await self._hold(poll)

    def close(self) -> None:
        """Close the sockets; open questions fail, the next one opens them again."""
        for _, future in list(self._open.values()):
            self._settle(future, ConfdClientError("the client was closed"))
        for link in self._links.values():
            link.close()
        self._links.clear()

    def _new_poll(self, question: Question[Any], peers: Sequence[Peer], expiry: float) -> Poll:
        return Poll(self.key, question, self.new_salt(), peers, expiry)

    async def _hold(self, poll: Poll) -> None:
        """Return when enough have answered or the time is over."""
        datagram = poll.datagram(self.now())
        links = await self._links_to(poll.peers)
        call_later = next(iter(links.values())).call_later
        future = self.framework.create_future()

        def send() -> None:
            for peer in poll.silent():
                if peer in links:
                    links[peer].send(datagram, peer)

        timers = [call_later(after, send) for after in ASK_AGAIN if after < poll.expiry]
        timers.append(call_later(poll.expiry, lambda: self._settle(future)))
        self._open[poll.rsalt] = (poll, future)
        try:
            send()
            await future
        finally:
            del self._open[poll.rsalt]
            for take_back in timers:
                take_back()

    async def _links_to(self, peers: Sequence[Peer]) -> dict[Peer, Link]:
        """Those that this machine can have. @raise ConfdClientError: none."""
        links: dict[Peer, Link] = {}
        reason: OSError | None = None
        for peer in peers:
            try:
                links[peer] = await self._link(peer)
            except OSError as error:
                reason = error
        if not links:
            raise no_socket(reason)
        return links

    async def _link(self, peer: Peer) -> Link:
        family = family_of(peer.host)
        if family not in self._links:
            made = await self.open_link(peer, self._received)
            if family in self._links:  # another question was quicker
                made.close()
            else:
                self._links[family] = made
        return self._links[family]

    def _received(self, datagram: bytes, peer: Peer) -> None:
        known = signed_reply(self.key, datagram)
        if known is not None and known[0] in self._open:
            poll, future = self._open[known[0]]
            poll.take(known[1], peer)
            if poll.enough():
                self._settle(future)

    def _settle(self, future: Any, error: ConfdClientError | None = None) -> None:
        if self.framework.is_called(future):
            return
        if error is not None:
            self.framework.reject(future, error)
        else:
            self.framework.resolve(future, None)
