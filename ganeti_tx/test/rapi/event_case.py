"""Streams of events in memory: luxid's real event log at one end, readers that take pieces at the other."""

import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, cast

from attrs import define, evolve, field
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.luxi.server_messages import encode_result
from ganeti_tx.luxi.transport_errors import ConnectionClosedError
from ganeti_tx.luxid.dispatch import LuxiDispatch
from ganeti_tx.luxid.events.log import EventLog
from ganeti_tx.luxid.events.methods import WAKE_DELAY, EventMethods
from ganeti_tx.model.events import ClusterEvent, Event, InstanceEvent
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.events.event_feed import RETRY, EventFeed
from ganeti_tx.rapi.events.event_window import EventWindow
from ganeti_tx.rapi.http.answers import Stream
from ganeti_tx.rapi.operations.operation import Call
from ganeti_tx.rapi.resources.events import followed
from ganeti_tx.sse import SseEvent, SseParser
from ganeti_tx.test.rapi.calls import request
from ganeti_tx.test.rapi.requests import FakeLuxi


def instance(name: str = "web1.example.com") -> InstanceEvent:
    """An instance was added."""
    return InstanceEvent(time=1.0, change="added", uuid=f"uuid-of-{name}", name=name, new_serial=1)


CLUSTER = ClusterEvent(time=1.0, change="changed", uuid="c", name="cluster", fields=("tags",))


def call_for(
    feed: EventFeed, last_id: str | None, arguments: Mapping[str, list[str]], caller: Caller, luxi: FakeLuxi
) -> Call:
    """A request for events."""
    headers = {"last-event-id": last_id}
    call = request(luxi, "GET", "/2/events")
    return evolve(call, arguments=arguments, caller=caller, header=headers.get, events=feed)


@define(eq=False)
class Luxid:
    """A luxid with an event log, which can be started again and be away."""

    clock: Clock
    kept: int = 1000
    epoch: int = 0
    up: bool = True
    hangs: bool = False
    events: EventMethods = field(init=False)
    clients: "list[LuxidClient]" = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """A new one, with a log of its own."""
        self.epoch += 1
        self.up = True
        self.events = EventMethods(EventLog(f"e{self.epoch}", max_events=self.kept), self.clock)

    def stop(self) -> None:
        """It ends, and its connections with it."""
        self.up = False
        for client in self.clients:
            client.close()

    def add(self, *events: Event) -> None:
        """They happen."""
        for event in events:
            self.events.add(event)

    def client(self) -> "LuxidClient":
        """A connection."""
        client = LuxidClient(self)
        self.clients.append(client)
        return client


@define(eq=False)
class LuxidClient(AsyncClient):
    """What is asked goes through luxid's dispatch, and comes back as JSON."""

    luxid: Luxid
    waiting: "list[Deferred[Any]]" = field(factory=list)
    asked: int = 0

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says."""
        if not self.luxid.up:
            raise ConnectionClosedError("nobody there")
        self.asked += 1
        if self.luxid.hangs:
            await Deferred()
        dispatch = LuxiDispatch(self.luxid.events.table())
        work = Deferred.fromCoroutine(dispatch(method, json.loads(json.dumps(args)), None))
        self.waiting.append(work)
        try:
            return json.loads(encode_result(await work))["result"]
        except CancelledError:
            if work not in self.waiting:
                raise ConnectionClosedError("closed") from None
            raise
        finally:
            if work in self.waiting:
                self.waiting.remove(work)

    def close(self) -> None:
        """What is waited for has no answer."""
        waiting, self.waiting = self.waiting, []
        for work in waiting:
            work.cancel()


@define(eq=False)
class Reader:
    """A client of the Remote API: takes pieces as long as it is `fast`, and remembers what they held."""

    parser: SseParser
    events: list[SseEvent] = field(factory=list)
    raw: bytes = b""
    ended: bool = False
    fast: bool = True
    _held: "Deferred[None] | None" = None
    _work: "Deferred[None] | None" = None

    def read(self, stream: Stream) -> None:
        """Begin."""
        self._work = Deferred.fromCoroutine(self._read(stream))
        self._work.addErrback(self._dropped)

    async def _read(self, stream: Stream) -> None:
        async with aclosing(cast(Any, stream.chunks)) as chunks:
            async for chunk in chunks:
                self.raw += chunk
                self.events += self.parser.feed(chunk)
                if not self.fast:
                    self._held = Deferred()
                    await self._held
        self.ended = True

    def go_on(self, fast: bool = True) -> None:
        """Take what comes again, or one piece of it."""
        self.fast = fast
        held, self._held = self._held, None
        if held is not None:
            held.callback(None)

    def drop(self) -> None:
        """The connection is lost."""
        if self._work is not None:
            self._work.cancel()
        self.ended = True

    def _dropped(self, failure: Failure) -> None:
        failure.trap(CancelledError)

    @property
    def names(self) -> list[str]:
        """The names of the objects told of; a gap is "gap"."""
        return [json.loads(event.data).get("name", event.event) for event in self.events]


class EventStreamCase(SynchronousTestCase):
    """A luxid, a Remote API daemon, and readers."""

    kept_here = 100

    def setUp(self) -> None:
        self.clock = Clock()
        self.luxid = Luxid(self.clock)
        self.luxi = FakeLuxi()
        self.caller = Caller("tester")
        self.start_rapi()

    def start_rapi(self) -> None:
        """The Remote API daemon begins."""
        self.feed = EventFeed(
            follower=self.luxid.client(),
            asker=self.luxid.client(),
            clock=self.clock,
            window=EventWindow(most=self.kept_here),
        )

    def call(self, last_id: str | None = None, **arguments: str) -> Call:
        """A request for events."""
        listed = {name: [value] for name, value in arguments.items()}
        return call_for(self.feed, last_id, listed, self.caller, self.luxi)

    def read(self, last_id: str | None = None, **arguments: str) -> Reader:
        """A reader with a stream."""
        reader = Reader(SseParser(last_id=last_id or ""))
        self.addCleanup(reader.drop)
        self.connect(reader, **arguments)
        return reader

    def connect(self, reader: Reader, **arguments: str) -> None:
        """The reader comes (again), as server-sent events want it."""
        reader.ended = False
        reader.parser.lost()
        call = self.call(reader.parser.last_id or None, **arguments)
        reader.read(self.successResultOf(Deferred.fromCoroutine(followed(call))))

    def happen(self, *events: Event) -> None:
        """They happen, and everybody hears of it."""
        self.luxid.add(*events)
        self.pass_time(2 * WAKE_DELAY)

    def pass_time(self, seconds: float = RETRY) -> None:
        """Time goes by, in steps as a reactor takes them."""
        self.clock.pump([seconds / 4] * 4)
