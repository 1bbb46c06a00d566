"""The connections to a node daemon: how many unauthenticated peers there may be, and how long a request may take to come.

A peer is unauthenticated until it has made a request with a certificate that may make calls; most attacks come from there, and
so most limits are for them.
"""

from collections import Counter
from typing import Any

from attrs import define, field
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.protocol import connectionDone
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.runtime.paced_channel import PacedChannel

log = Logger()

#: So many unauthenticated peers may be connected; one more evicts the oldest, of the address that has most.
MAX_UNAUTHENTICATED = 128
#: Seconds for the TLS handshake and the head of the first request, and for the head of any further one.
HEAD_LIMIT = 20.0
#: A body may take as long as its bytes do at this speed, in bytes a second.
SLOWEST = 128 * 1024
#: Seconds that a peer may take to read the last answer.
READ_LIMIT = 60.0
#: Seconds for a peer that was refused to hang up.
LINGER = 5.0
#: Seconds between two lines in the log about peers that were evicted.
QUIET = 10.0


class LimitedChannel(PacedChannel):
    """One connection. Bytes that drip in do not make a request's time longer."""

    site: Any
    connections: "Connections"
    _due: IDelayedCall | None = None

    def connectionMade(self) -> None:
        super().connectionMade()
        self.connections.came(self)
        self.allow(HEAD_LIMIT)

    def dataReceived(self, data: bytes) -> None:
        if self._due is None and not self._handlingRequest and not self.paused:
            self.allow(HEAD_LIMIT)
        super().dataReceived(data)

    def allow(self, seconds: float) -> None:
        """From now the peer has so many seconds, for the rest of its request or to hang up."""
        self.came_in_time()
        self._due = self.callLater(seconds, lambda: self._too_late(seconds))

    def came_in_time(self) -> None:
        """The whole request is there."""
        if self._due is not None and self._due.active():
            self._due.cancel()
        self._due = None

    def loseConnection(self) -> None:
        """Hang up when the peer has read all, or had its time for that."""
        self.allow(READ_LIMIT)
        super().loseConnection()

    def _send100Continue(self) -> None:
        transport: Any = self.transport
        if not transport.disconnecting:  # else the body was refused already
            super()._send100Continue()

    def drop(self) -> None:
        """Hang up at once."""
        self.came_in_time()
        transport: Any = self.transport
        if transport is not None:
            transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.came_in_time()
        self.connections.went(self)
        super().connectionLost(reason)

    def _too_late(self, seconds: float) -> None:
        self._due = None
        self.connections.tell(
            "{peer} took more than {seconds} seconds for a request", peer=self.peer(), seconds=seconds
        )
        self.drop()

    def peer(self) -> str:
        """The address at the other end."""
        return str(getattr(self.transport.getPeer(), "host", "unknown")) if self.transport is not None else "unknown"


@define(eq=False)
class Connections:
    """The unauthenticated peers among the connections of a node daemon, the oldest first."""

    clock: IReactorTime
    most: int = MAX_UNAUTHENTICATED
    _unauthenticated: dict[LimitedChannel, str] = field(factory=dict)
    _told: float | None = None

    def came(self, channel: LimitedChannel) -> None:
        """A new connection."""
        if len(self._unauthenticated) >= self.most:
            self._evict_one()
        self._unauthenticated[channel] = channel.peer()

    def known(self, channel: LimitedChannel) -> None:
        """Somebody who may make calls made one."""
        self._unauthenticated.pop(channel, None)

    def went(self, channel: LimitedChannel) -> None:
        """A connection is gone."""
        self._unauthenticated.pop(channel, None)

    def tell(self, text: str, **values: object) -> None:
        """Write it into the log, but not all the time."""
        now = self.clock.seconds()
        if self._told is None or now - self._told >= QUIET:
            self._told = now
            log.warn(text, **values)

    def _evict_one(self) -> None:
        by_address = Counter(self._unauthenticated.values())
        most = max(by_address.values())
        oldest = next(each for each, address in self._unauthenticated.items() if by_address[address] == most)
        self.tell("too many unauthenticated peers; one of {peer} is evicted", peer=self._unauthenticated.pop(oldest))
        oldest.drop()
