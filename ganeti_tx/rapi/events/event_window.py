"""The newest events in the Remote API daemon, shared by all who stream them."""

from collections.abc import Mapping
from typing import Any

import msgspec
from attrs import define, field, frozen

from ganeti_tx.model.event_filter import names_of, room_of
from ganeti_tx.model.event_id import EventId
from ganeti_tx.model.events import GAP
from ganeti_tx.sse import event_bytes

#: So many events are kept, in about so many bytes of memory; who wants older ones asks luxid.
MOST = 2000
MOST_BYTES = 4 * 1024 * 1024
#: What an item takes besides its text and its names.
OVERHEAD = 600
#: What is kept of an event beside that: by these it is judged who may see it.
VISIBILITY_FIELDS = ("job", "name")


@frozen
class Item:
    """One event, ready to be judged and sent. A gap has its `reason` in `facts`, and no text: that depends on the reader."""

    id: str
    kind: str
    names: tuple[str, ...]
    facts: Mapping[str, Any]
    text: bytes = b""

    @property
    def size(self) -> int:
        """How much room it takes, about."""
        return len(self.text) + room_of(self.names) + OVERHEAD


def item_of(id: str, event: Mapping[str, Any]) -> Item:
    """An event as it came from luxid."""
    kind = str(event.get("kind", ""))
    facts = {key: event[key] for key in VISIBILITY_FIELDS if key in event}
    return Item(id, kind, names_of(event), facts, event_bytes(id, kind, msgspec.json.encode(event)))


def gap_item(id: str, reason: str) -> Item:
    """The mark that events are missing before what follows this id."""
    return Item(id, GAP, (), {"reason": reason})


@define
class EventWindow:
    """Items have positions here that only grow, whatever their ids are; between two gaps ids have no hole.

    @ivar first: the position of the oldest item. @ivar end: that after the newest.
    @ivar place: the id up to which luxid's events are here; None while none is known.
    """

    most: int = MOST
    most_bytes: int = MOST_BYTES
    first: int = 0
    end: int = 0
    place: EventId | None = None
    #: No position before it belongs to ids of the same epoch.
    _since: int = 0
    _size: int = 0
    _items: dict[int, Item] = field(factory=dict)

    def begin(self, place: EventId) -> None:
        """Here the events begin; what was before is forgotten."""
        self._items.clear()
        self._size = 0
        self.first = self._since = self.end
        self.place = place

    def gap(self, place: EventId, reason: str) -> None:
        """The same, and everybody is told that something is missing."""
        self.begin(place)
        self._put(gap_item(str(place), reason))
        self._since = self.end

    def append(self, place: EventId, event: Mapping[str, Any]) -> None:
        """The next event."""
        self._put(item_of(str(place), event))
        self.place = place

    def forget(self) -> None:
        """Nothing is known any more; nobody is up to date here, whatever he has read."""
        self.end += 1
        self.begin(EventId("", 0))
        self.place = None

    def position(self, place: EventId) -> int | None:
        """Where the event after this one is, or will be; None when that is too old, too new, or of another epoch."""
        if self.place is None or place.epoch != self.place.epoch:
            return None
        position = self.end - (self.place.number - place.number)
        return position if max(self.first, self._since) <= position <= self.end else None

    def __getitem__(self, position: int) -> Item:
        return self._items[position]

    def _put(self, item: Item) -> None:
        self._items[self.end] = item
        self.end += 1
        self._size += item.size
        while self.end - self.first > self.most or self._size > self.most_bytes:
            self._size -= self._items.pop(self.first).size
            self.first += 1
