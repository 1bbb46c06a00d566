"""One client's stream of events: what it missed, then what happens, with a sign of life in between."""

from collections.abc import AsyncIterator, Sequence

import msgspec
from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.errors import GanetiError, error_text
from ganeti_tx.model.event_filter import EventFilter
from ganeti_tx.model.event_id import EventId
from ganeti_tx.model.events import GAP, Kind
from ganeti_tx.rapi.events.event_feed import RETRY, EventFeed, place_of
from ganeti_tx.rapi.events.event_sight import Sight
from ganeti_tx.rapi.events.event_window import Item, gap_item, item_of
from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.sse import COMMENT, event_bytes, id_bytes, retry_bytes

log = Logger()

#: Seconds without an event after which a sign of life is sent.
HEARTBEAT = 15.0
#: Seconds after which a stream ends: the client comes again, with credentials that are good by then.
LIFETIME = 900.0
#: Milliseconds after which a client shall come again.
COME_AGAIN = 1000
#: For so many seconds a client may be behind what is kept here; then it is cut off.
TIMEOUT = 60.0
#: So many events are looked at, and about so many bytes sent, in one piece.
AT_A_TIME = 200
PIECE = 64 * 1024


@define
class EventStream:
    """Reads from the shared window; what is not there any more is asked of luxid, so that nothing is queued for anybody.

    @ivar place: up to where everything was sent that is wanted.
    """

    feed: EventFeed
    name: str | None
    place: EventId
    wanted: EventFilter
    sight: Sight
    clock: IReactorTime
    _position: int | None = field(default=None, init=False)
    _behind_since: float | None = field(default=None, init=False)
    _told: EventId = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._told = self.place

    async def pieces(self) -> AsyncIterator[bytes]:
        """The stream. It ends when its time is over, and when the client reads too slowly; the client may come again."""
        self.feed.join(self.name)
        try:
            end = self.clock.seconds() + LIFETIME
            yield retry_bytes(COME_AGAIN) + id_bytes(str(self.place))
            while self.clock.seconds() < end:
                if (piece := await self._next()) is None:
                    return
                yield piece
        except (GanetiError, HttpError) as error:
            log.warn("a stream of events ends: {error}", error=error_text(error))
        finally:
            self.feed.leave(self.name)

    async def _next(self) -> bytes | None:
        """Events, or a sign of life when there are none for long; None for a client that is left behind, or at the end."""
        deadline = self.clock.seconds() + HEARTBEAT
        while not self.feed.closed:
            items, place = await self._newer()
            if self._is_too_slow(items):
                log.info("a reader of events is too slow, and cut off")
                return None
            sent = await self._wanted_of(items)
            self.place = place
            if sent:
                self._told = place_of(sent[-1].id)
                return b"".join(self._gap_text(item) if item.kind == GAP else item.text for item in sent)
            left = deadline - self.clock.seconds()
            if left <= 0:
                return self._sign_of_life()
            if not items:
                await self.feed.changed(left if self._position is not None else min(left, RETRY))
        return None

    def _sign_of_life(self) -> bytes:
        """With the place, if the client does not know it yet: what it did not want need not be looked at again."""
        if self._told == self.place:
            return COMMENT
        self._told = self.place
        return COMMENT + id_bytes(str(self.place))

    def _is_too_slow(self, items: Sequence[Item]) -> bool:
        """Whether the client has been behind for long, though there is something for it."""
        if self._position is not None or not items:
            self._behind_since = None
        elif self._behind_since is None:
            self._behind_since = self.clock.seconds()
        return self._behind_since is not None and self.clock.seconds() - self._behind_since > TIMEOUT

    async def _newer(self) -> tuple[Sequence[Item], EventId]:
        """Some events after the present place, and the place after them."""
        window = self.feed.window
        if self._position is None or self._position < window.first:
            self._position = window.position(self.place)
        if self._position is None:
            return await self._asked()
        items: list[Item] = []
        size = 0
        while self._position < window.end and len(items) < AT_A_TIME and size < PIECE:
            items.append(window[self._position])
            size += len(items[-1].text)
            self._position += 1
        return items, place_of(items[-1].id) if items else self.place

    async def _asked(self) -> tuple[Sequence[Item], EventId]:
        """The same from luxid; nothing while it does not answer."""
        try:
            found = await self.feed.ask(str(self.place))
        except GanetiError:
            return (), self.place  # the feed says so in the log
        last = place_of(found.last)
        if found.gap is not None:
            return [gap_item(found.last, found.gap)], last
        return [item_of(id, event) for id, event in found.events], last

    async def _wanted_of(self, items: Sequence[Item]) -> list[Item]:
        """Those that the client gets."""
        wanted = [item for item in items if item.kind == GAP or self.wanted.wants(item.kind, item.names)]
        if ordinary := [item for item in wanted if item.kind != GAP]:
            await self.sight.look(ordinary)
        return [item for item in wanted if item.kind == GAP or self.sight.sees(item)]

    def _gap_text(self, item: Item) -> bytes:
        kinds = [kind for kind in Kind if not self.wanted.kinds or kind in self.wanted.kinds]
        event = {"kind": GAP, "time": self.feed.now(), "reason": item.facts["reason"], "resync": kinds}
        return event_bytes(item.id, GAP, msgspec.json.encode(event))
