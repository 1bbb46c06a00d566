"""The connections of the Remote API: how many there may be, who is evicted, and whose time is over.

Who has shown good credentials keeps the place before who has not; who is being served keeps it before who rests; and
of equals one goes of the address that has most of them.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

log = Logger()

#: So many connections may be open, unless --max-clients says otherwise.
MOST = 512
#: Bytes that all clients together may have asked for and not yet read.
MOST_UNREAD = 128 * 1024 * 1024
#: Seconds between two looks at whose time is over.
PERIOD = 1.0
#: Seconds between two looks at whether all has been answered in the end.
MOMENT = 0.05
#: Seconds between two lines in the log about the same.
QUIET = 10.0


class Client(Protocol):
    """One connection, as far as its place goes."""

    address: str
    known: bool
    busy: bool
    #: Since when it does what it does.
    since: float
    #: When its time is over; None for never.
    deadline: float | None
    #: Bytes that were written and not yet read.
    unread: int

    def time_is_over(self) -> None:
        """The deadline has come."""

    def leave(self) -> None:
        """Hang up, as soon as what was asked has been answered."""

    def drop(self) -> None:
        """Hang up at once."""


@define(eq=False, kw_only=True)
class Connections:
    """All connections of a server."""

    clock: IReactorTime
    most: int = MOST
    most_unread: int = MOST_UNREAD
    _clients: set[Client] = field(factory=set)
    _addresses: Counter[str] = field(factory=Counter)
    _look: Any = None
    _told: dict[str, float] = field(factory=dict)

    def __len__(self) -> int:
        return len(self._clients)

    def came(self, client: Client) -> bool:
        """Take a new connection in, in place of another if need be; whether there is room."""
        if len(self._clients) >= self.most and not self._evict_one():
            return False
        self._clients.add(client)
        self._addresses[client.address] += 1
        if self._look is None:
            self._look = self.clock.callLater(PERIOD, self._look_at_deadlines)
        return True

    def went(self, client: Client) -> None:
        """A connection is gone; one that was never taken in is no error."""
        if client not in self._clients:
            return
        self._clients.discard(client)
        self._addresses[client.address] -= 1
        if not self._addresses[client.address]:
            del self._addresses[client.address]
        if not self._clients and self._look is not None:
            self._look.cancel()
            self._look = None

    def waits_for_reader(self) -> None:
        """Somebody does not read fast enough; if too much waits in all, who has waited longest is dropped."""
        waiting = [each for each in self._clients if each.unread]
        while sum(each.unread for each in waiting) > self.most_unread and len(waiting) > 1:
            slowest = min(waiting, key=lambda each: (each.known, each.since))
            waiting.remove(slowest)
            self.tell("{address} does not read its answer and is dropped", address=slowest.address)
            self._drop(slowest)

    async def finish(self, limit: float) -> None:
        """Let all go, and wait so many seconds at most for what they asked to be answered."""
        for client in list(self._clients):
            client.leave()
        end = self.clock.seconds() + limit
        while any(client.busy for client in self._clients) and self.clock.seconds() < end:
            await deferLater(self.clock, MOMENT)
        await deferLater(self.clock, MOMENT)  # for the last answers to leave

    def tell(self, text: str, **values: object) -> None:
        """Write it into the log, but not all the time."""
        now = self.clock.seconds()
        if now - self._told.get(text, -QUIET) >= QUIET:
            self._told[text] = now
            log.warn(text, **values)

    def _evict_one(self) -> bool:
        first: Callable[[Client], Any] = lambda each: (  # noqa: E731
            each.known, each.busy, -self._addresses[each.address], each.since
        )  # fmt: skip
        victim = min(self._clients, key=first, default=None)
        if victim is None or (victim.known and victim.busy):
            self.tell("all {count} connections are in use; a new one is refused", count=len(self._clients))
            return False
        self.tell("{count} connections; one of {address} is evicted", count=len(self), address=victim.address)
        self._drop(victim)
        return True

    def _drop(self, client: Client) -> None:
        self.went(client)
        client.drop()

    def _look_at_deadlines(self) -> None:
        self._look = self.clock.callLater(PERIOD, self._look_at_deadlines)
        now = self.clock.seconds()
        for client in [each for each in self._clients if each.deadline is not None and each.deadline <= now]:
            client.time_is_over()
