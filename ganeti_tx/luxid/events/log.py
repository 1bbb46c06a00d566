"""The newest events in memory, numbered; older ones are evicted."""

from collections.abc import Iterator

import msgspec
from attrs import define, field, frozen

from ganeti_tx.model.event_filter import EventFilter, names_of, room_of
from ganeti_tx.model.event_id import EventId
from ganeti_tx.model.events import Event

#: Kept are at most so many events, in about so many bytes of memory.
MAX_EVENTS = 10_000
MAX_BYTES = 16 * 1024 * 1024
#: What an event takes besides its text and its names.
OVERHEAD = 400


@frozen
class Entry:
    """One event as it is sent, and what filters look at."""

    number: int
    kind: str
    names: tuple[str, ...]
    data: bytes

    @property
    def size(self) -> int:
        """How much room it takes, about."""
        return len(self.data) + room_of(self.names) + OVERHEAD


@define
class EventLog:
    """Numbers are without a hole from `first` to `last`.

    @ivar epoch: another for each log; numbers mean something only within it.
    """

    epoch: str
    max_events: int = MAX_EVENTS
    max_bytes: int = MAX_BYTES
    first: int = 1
    last: int = 0
    size: int = 0
    _entries: dict[int, Entry] = field(factory=dict)

    @property
    def end(self) -> EventId:
        """The place after everything that has happened."""
        return EventId(self.epoch, self.last)

    def append(self, event: Event) -> None:
        """Take note of an event; its number is the next."""
        self.last += 1
        wire = msgspec.to_builtins(event)
        entry = Entry(self.last, wire["kind"], names_of(wire), msgspec.json.encode(event))
        self._entries[self.last] = entry
        self.size += entry.size
        while self.size > self.max_bytes or self.last - self.first >= self.max_events:
            self.size -= self._entries.pop(self.first).size
            self.first += 1

    def has(self, number: int) -> bool:
        """Whether every event after this one is still here, and this one has been given."""
        return self.first - 1 <= number <= self.last

    def after(self, number: int, wanted: EventFilter) -> Iterator[tuple[Entry, bool]]:
        """Each event after one that `has` knows, and whether it is wanted."""
        for each in range(number + 1, self.last + 1):
            entry = self._entries[each]
            yield entry, wanted.wants(entry.kind, entry.names)
