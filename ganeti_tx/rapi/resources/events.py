"""What happens in the cluster, as a stream of server-sent events."""

from http import HTTPStatus
from typing import Any

import msgspec

from ganeti_tx.model.event_filter import MAX_NAME, EventFilter
from ganeti_tx.model.event_id import EventId, read_id
from ganeti_tx.model.events import AnyEvent, Kind
from ganeti_tx.rapi.events.event_feed import EventFeed, place_of
from ganeti_tx.rapi.events.event_sight import sight_of
from ganeti_tx.rapi.events.event_stream import EventStream
from ganeti_tx.rapi.http.answers import Stream
from ganeti_tx.rapi.http.http_errors import HttpError, bad_request, unavailable
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.operation import Argument, Call, Operation
from ganeti_tx.rapi.operations.schemas import inlined
from ganeti_tx.rapi.operations.submission import READ_OR_WRITE
from ganeti_tx.sse import CONTENT_TYPE

LAST_EVENT_ID = "last-event-id"
#: So many objects may be named.
MOST_OBJECTS = 100
#: Seconds after which a client for whom there was no room shall try again.
RETRY_AFTER = "10"

KIND = Argument("kind", "list", meaning=f"Only events of these kinds: {', '.join(Kind)}")
OBJECT = Argument("object", "list", meaning="Only events about these objects: names, uuids, job ids")
AFTER = Argument("after", meaning="Begin after this event id; the header Last-Event-ID comes before it")


async def followed(call: Call) -> Stream:
    """The events after an id, or from now on; as `EventStream` says.

    @raise HttpError: a bad argument (400), too many streams (503). @raise GanetiError: luxid does not answer.
    """
    wanted, after = read_filter(call), read_place(call)
    feed = call.events
    if feed is None:
        raise unavailable("there are no events to be had here")
    check_room(feed, call.caller.name)
    place = place_of((await feed.ask(None)).last) if after is None else after
    check_room(feed, call.caller.name)
    stream = EventStream(feed, call.caller.name, place, wanted, sight_of(call.caller, call.luxi), feed.clock)
    return Stream(CONTENT_TYPE, stream.pieces())


def check_room(feed: EventFeed, name: str | None) -> None:
    """@raise HttpError: there are too many streams (503)."""
    if not feed.has_room(name):
        text = "too many streams of events; close one, or try again later"
        raise HttpError(HTTPStatus.SERVICE_UNAVAILABLE, text, {"Retry-After": RETRY_AFTER})


def read_filter(call: Call) -> EventFilter:
    """@raise HttpError: an unknown kind, too many objects, or what is none (400)."""
    kinds = arguments.listed(call, KIND.name)
    for kind in kinds:
        if kind not in set(Kind):
            raise bad_request(f"argument 'kind': there are no events of the kind '{kind:.60}'; use {', '.join(Kind)}")
    objects = arguments.listed(call, OBJECT.name)
    if len(objects) > MOST_OBJECTS:
        raise bad_request(f"argument 'object': {len(objects)} objects; at most {MOST_OBJECTS} are taken")
    if long := next((name for name in objects if len(name) > MAX_NAME), None):
        raise bad_request(f"argument 'object': '{long:.50}...' is no name of an object: {len(long)} characters")
    return EventFilter(frozenset(kinds), frozenset(objects))


def read_place(call: Call) -> EventId | None:
    """Where the client wants to go on; None from now on. @raise HttpError: it is no id (400)."""
    text = call.header(LAST_EVENT_ID) or arguments.text(call, AFTER.name)
    if not text:
        return None
    place = read_id(text)
    if place is None:
        raise bad_request(f"'{text:.60}' is no id of an event; send one that came with an event, or none to begin now")
    return place


def schema_of_event() -> dict[str, Any]:
    """The data of one event."""
    whole = msgspec.json.schema(AnyEvent)
    flat: dict[str, Any] = inlined({"anyOf": whole["anyOf"]}, whole["$defs"])
    return {**flat, "description": "The data of each event; 'event' is its kind, 'id' what to go on from"}


OPERATIONS = (
    Operation(
        method="GET",
        path="/2/events",
        resource="events",
        access=READ_OR_WRITE,
        run=followed,
        summary="Follow what happens in the cluster: server-sent events (text/event-stream) without an end",
        result=schema_of_event(),
        content_type=CONTENT_TYPE,
        arguments=(KIND, OBJECT, AFTER),
        tags=("events",),
    ),
)
