"""A server on a transport in memory, and a clock that is turned by hand."""

import json
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobLost
from ganeti_tx.luxi.limits import Limits
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.luxi.server import LuxiFactory


def request(method: str, *args: Any) -> bytes:
    """A framed request."""
    return json.dumps({"method": method, "args": args}).encode() + b"\x03"


class Dispatch:
    """Answers what it is told to, or waits until the test says so."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[object]]] = []
        self.waiting: list[Deferred[object]] = []
        self.cancelled = 0

    async def __call__(self, method: str, args: list[object], peer: Peer | None) -> object:
        self.calls.append((method, args))
        match method:
            case "WaitForJobChange" | "WaitForEvents":
                waiting: Deferred[object] = Deferred(canceller=self.count)
                self.waiting.append(waiting)
                return await waiting
            case "ArchiveJob":
                raise JobLost(f"Job {args[0]} lost")
            case "CancelJob":
                raise ZeroDivisionError("secret")
            case "PickupJob":
                return object()
        return args

    def count(self, waiting: Deferred[object]) -> None:
        """One call was cancelled."""
        self.cancelled += 1


WAIT = request("WaitForJobChange", 1, [], None, None, 60)
TAGS = request("QueryTags", "cluster", "")


class Connection:
    """A connected protocol with what it wrote."""

    def __init__(self, factory: LuxiFactory) -> None:
        self.transport = StringTransport()
        self.protocol = factory.buildProtocol(None)
        self.protocol.makeConnection(self.transport)

    def send(self, data: bytes) -> None:
        """Bytes arrive."""
        self.protocol.dataReceived(data)

    def answers(self) -> list[Any]:
        """Success and result of each answer since the last look."""
        frames = self.transport.value().split(b"\x03")
        self.transport.clear()
        assert frames.pop() == b"", "an answer without end"
        return [(answer["success"], answer["result"]) for answer in map(json.loads, frames)]

    def lose(self) -> None:
        """The client is gone."""
        self.protocol.connectionLost(Failure(ConnectionDone()))


class ServerTestCase(SynchronousTestCase):
    """A server with small limits."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.dispatch = Dispatch()
        limits = Limits(request=1000, connections=2, waiting=3, waiting_size=2000, idle=180, frame=60, unread=90)
        self.factory = LuxiFactory(self.dispatch, self.clock, limits=limits)
        self.client = Connection(self.factory)
