"""The LUXI method by which programs follow the event log."""

from collections.abc import Mapping, Sequence

import msgspec
from attrs import define, field
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.luxi.timeouts import WAIT_FOR_JOB_CHANGE_CAP
from ganeti_tx.luxid.dispatch import Answer
from ganeti_tx.luxid.events.log import EventLog
from ganeti_tx.model.event_filter import MAX_NAME, EventFilter
from ganeti_tx.model.event_id import EventId, read_id
from ganeti_tx.model.events import Event, Kind
from ganeti_tx.runtime.condition import Condition

#: Seconds for which those who wait are not told yet, so that what happens together is told together.
WAKE_DELAY = 0.02
#: One answer holds at most so many events, and so many bytes of them (at least one event).
MOST_EVENTS = 1000
MOST_BYTES = 1024 * 1024
#: So many objects may be asked for in one call.
MOST_OBJECTS = 100

#: Events with their ids, where to go on, and why some are missing.
Found = tuple[list[tuple[str, msgspec.Raw]], str, str | None]


@define
class EventMethods:
    """Adds to the log, and answers who waits for it."""

    log: EventLog
    clock: IReactorTime
    _condition: Condition = field(init=False)
    _wake_due: IDelayedCall | None = None

    def __attrs_post_init__(self) -> None:
        self._condition = Condition(self.clock)

    def table(self) -> Mapping[str, Answer]:
        """Which method is which call."""
        return {"WaitForEvents": self.wait}

    def add(self, event: Event) -> None:
        """Something happened."""
        self.log.append(event)
        if self._condition.is_waited_for and self._wake_due is None:
            self._wake_due = self.clock.callLater(WAKE_DELAY, self._wake)

    def _wake(self) -> None:
        self._wake_due = None
        self._condition.notify_all()

    async def wait(
        self, after: str | None, kinds: Sequence[str] | None, objects: Sequence[str] | None, timeout: int, limit: int
    ) -> Found:
        """As `luxi.own_methods.OwnMethods.wait_for_events` says. @raise OpPrereqError: an unknown kind, or too many objects."""
        wanted = event_filter(kinds, objects)
        place = self.log.end if after is None else read_id(after)
        deadline = self.clock.seconds() + min(max(timeout, 0), WAIT_FOR_JOB_CHANGE_CAP)
        while True:
            if place is None or (gap := self._gap(place)) is not None:
                return [], str(self.log.end), "restart" if place is None else gap
            events, place = self._found(place, wanted, min(max(limit, 1), MOST_EVENTS))
            left = deadline - self.clock.seconds()
            if events or after is None or left <= 0:
                return events, str(place), None
            if place == self.log.end:
                await self._condition.wait(left)

    def _gap(self, place: EventId) -> str | None:
        """Why what came after a place is not known; None when it is."""
        if place.epoch != self.log.epoch or place.number > self.log.last:
            return "restart"
        return None if self.log.has(place.number) else "overrun"

    def _found(self, place: EventId, wanted: EventFilter, limit: int) -> tuple[list[tuple[str, msgspec.Raw]], EventId]:
        """The next events that are wanted, and the place up to which was looked."""
        found: list[tuple[str, msgspec.Raw]] = []
        room = MOST_BYTES
        for entry, is_wanted in self.log.after(place.number, wanted):
            if is_wanted and found and (len(found) >= limit or len(entry.data) > room):
                break
            place = place._replace(number=entry.number)
            if is_wanted:
                room -= len(entry.data)
                found.append((str(place), msgspec.Raw(entry.data)))
        return found, place


def event_filter(kinds: Sequence[str] | None, objects: Sequence[str] | None) -> EventFilter:
    """@raise OpPrereqError: an unknown kind, too many objects, or what is none."""
    for kind in kinds or ():
        if kind not in set(Kind):
            raise OpPrereqError(f"unknown kind of events {kind[:100]!r}; known are {', '.join(Kind)}", ECode.INVAL)
    if len(objects or ()) > MOST_OBJECTS:
        raise OpPrereqError(f"{len(objects or ())} objects in a filter; allowed are {MOST_OBJECTS}", ECode.INVAL)
    if long := next((name for name in objects or () if len(name) > MAX_NAME), None):
        raise OpPrereqError(f"'{long[:50]}...' is no name of an object: {len(long)} characters", ECode.INVAL)
    return EventFilter(frozenset(kinds or ()), frozenset(objects or ()))
