"""One follower of luxid's events for everybody who streams them."""

import time
from collections import Counter
from collections.abc import Callable

from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.errors import GanetiError, error_text
from ganeti_tx.luxi import transport_errors
from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.luxi.own_methods import Events
from ganeti_tx.luxi.transport_errors import ProtocolError
from ganeti_tx.model.event_id import EventId, read_id
from ganeti_tx.rapi.events.event_window import EventWindow
from ganeti_tx.runtime.condition import Condition

log = Logger()

#: Seconds between two tries while luxid does not answer.
RETRY = 1.0
#: Seconds for which one call waits for events.
POLL = 60
#: Seconds that luxid has to give what has happened already; a reader who waits for it shall hear from us in time.
ASK_WAIT = 10.0
#: Events in one answer: of all that happens, and of what one reader missed, who may be slow to take it.
LIMIT, ASK_LIMIT = 500, 100
#: So many streams at a time, and of one caller.
MOST_STREAMS = 200
MOST_OF_ONE = 50


@define(eq=False, kw_only=True)
class EventFeed:
    """Follows luxid as long as there are streams.

    @ivar follower: for the calls that wait. @ivar asker: for calls that are answered at once.
    """

    follower: AsyncClient
    asker: AsyncClient
    clock: IReactorTime
    #: Seconds since the epoch.
    now: Callable[[], float] = time.time
    most: int = MOST_STREAMS
    most_of_one: int = MOST_OF_ONE
    window: EventWindow = field(factory=EventWindow)
    closed: bool = False
    _streams: Counter[str | None] = field(factory=Counter)
    _following: "Deferred[None] | None" = None
    _condition: Condition = field(init=False)
    _silent: bool = False
    #: Another one with each stop, as that may be the doing of a stream to which the following is just telling something.
    _generation: int = 0

    def __attrs_post_init__(self) -> None:
        self._condition = Condition(self.clock)

    def has_room(self, name: str | None) -> bool:
        """Whether a caller may have one more stream."""
        return self._streams.total() < self.most and self._streams[name] < self.most_of_one

    def join(self, name: str | None) -> None:
        """A stream of a caller begins."""
        self._streams[name] += 1
        self._begin()

    def _begin(self) -> None:
        if self._following is None and self._streams and not self.closed:
            self._following = Deferred.fromCoroutine(self._follow(self._generation))
            self._following.addErrback(self._broken)

    def leave(self, name: str | None) -> None:
        """It ends; with the last one the following does."""
        self._streams[name] -= 1
        self._streams += Counter()  # without those that have none left
        if not self._streams:
            self._stop()

    def close(self) -> None:
        """Ask nothing more; every stream ends, so that its client comes again and finds who goes on."""
        self.closed = True
        self._stop()
        self.asker.close()
        self._condition.notify_all()

    def _stop(self) -> None:
        self._generation += 1
        following, self._following = self._following, None
        if following is not None:
            following.cancel()
        self.follower.close()
        self.window.forget()

    async def ask(self, after: str | None) -> Events:
        """The events after an id, as far as they have happened. @raise GanetiError: luxid does not answer, or not soon."""
        asking = Deferred.fromCoroutine(self.asker.wait_for_events(after, timeout=0, limit=ASK_LIMIT))
        try:
            return await asking.addTimeout(ASK_WAIT, self.clock)
        except TimeoutError:
            raise transport_errors.TimeoutError(f"luxid gave no events within {ASK_WAIT:.0f} seconds") from None

    def changed(self, limit: float) -> "Deferred[None]":
        """Fires when there is something new, or after so many seconds."""
        return self._condition.wait(limit)

    async def _follow(self, generation: int) -> None:
        while generation == self._generation:
            try:
                place = self.window.place
                found = await self.follower.wait_for_events(
                    None if place is None else str(place), timeout=POLL, limit=LIMIT
                )
                self._take(found)
            except GanetiError as error:
                self._say_silent(error)
                await deferLater(self.clock, RETRY)
            else:
                self._silent = False

    def _take(self, found: Events) -> None:
        """Put what luxid answered into the window. @raise ProtocolError: it has no ids."""
        last = place_of(found.last)
        if self.window.place is None:
            self.window.begin(last)
        elif found.gap is not None:
            self.window.gap(last, found.gap)
        elif found.events:
            for id, event in found.events:
                self.window.append(place_of(id), event)
        else:
            return
        self._condition.notify_all()

    def _say_silent(self, error: GanetiError) -> None:
        if not self._silent:
            log.warn("no events from the master daemon: {error}", error=error_text(error))
        self._silent = True

    def _broken(self, failure: Failure) -> None:
        if failure.check(CancelledError):
            return
        log.failure("the following of events broke; it begins anew", failure)
        self._following = None
        self.window.forget()
        self.clock.callLater(RETRY, self._begin)


def place_of(id: str) -> EventId:
    """@raise ProtocolError: it is no id."""
    place = read_id(id)
    if place is None:
        raise ProtocolError(f"WaitForEvents answered with {id[:100]!r}, which is no event id")
    return place
