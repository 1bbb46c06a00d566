"""The server protocol on a transport in memory and a clock that is turned by hand."""

import json
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.interfaces import IPushProducer
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.errors import JobLost
from ganeti_tx.luxi.methods import Method, MethodTable, Param
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.luxi.server import Limits, LuxiFactory, LuxiProtocol
from ganeti_tx.luxi.shapes import INT


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
            case "WaitForJobChange":
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
        limits = Limits(request=1000, connections=2, waiting=3, waiting_size=2000, idle=180, unread=90)
        self.factory = LuxiFactory(self.dispatch, self.clock, limits=limits)
        self.client = Connection(self.factory)


class AnswerTests(ServerTestCase):
    """What is answered, and in which order."""

    def test_byte_by_byte(self) -> None:
        """A request is answered with its last byte."""
        for byte in TAGS[:-1]:
            self.client.send(bytes([byte]))
        self.assertEqual(self.client.answers(), [])
        self.client.send(TAGS[-1:])
        self.assertEqual(self.client.answers(), [(True, ["cluster", ""])])

    def test_order(self) -> None:
        """Requests are carried out one after the other, and answered in their order."""
        self.client.send(WAIT + TAGS + WAIT)
        self.assertEqual(len(self.dispatch.calls), 1)
        self.dispatch.waiting[0].callback("first")
        self.assertEqual(self.client.answers(), [(True, "first"), (True, ["cluster", ""])])
        self.dispatch.waiting[1].callback("third")
        self.assertEqual(self.client.answers(), [(True, "third")])

    def test_arguments_are_checked(self) -> None:
        """Dispatch sees only arguments of the right shape, job ids as ints."""
        self.client.send(request("QueryJobs", ["7"], []) + request("QueryJobs", "7", []) + request("Nonsense"))
        self.assertEqual(self.dispatch.calls, [("QueryJobs", [[7], []])])
        good, wrong, unknown = self.client.answers()
        self.assertEqual(good, (True, [[7], []]))
        self.assertEqual((wrong[0], wrong[1][0], wrong[1][1][1]), (False, "OpPrereqError", "wrong_input"))
        self.assertIn("Unknown method 'Nonsense'", unknown[1][1][0])
        self.assertFalse(self.client.transport.disconnecting)

    def test_errors(self) -> None:
        """An error of Ganeti's is the answer, and the connection goes on."""
        self.client.send(request("ArchiveJob", 9) + TAGS)
        self.assertEqual(self.client.answers(), [(False, ["JobLost", ["Job 9 lost"]]), (True, ["cluster", ""])])

    def test_unexpected_errors(self) -> None:
        """Any other error is logged; the client learns only that there was one."""
        self.client.send(request("CancelJob", 9) + request("PickupJob", 9) + TAGS)
        internal = (False, ["GenericError", ["internal error"]])
        self.assertEqual(self.client.answers(), [internal, internal, (True, ["cluster", ""])])
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)
        self.assertEqual(len(self.flushLoggedErrors(TypeError)), 1)

    def test_junk(self) -> None:
        """What is no request is refused with a plain string; what follows is not looked at, and the server hangs up."""
        self.client.send(TAGS + b"GET / HTTP/1.0\x03" + TAGS)
        self.client.send(TAGS)
        good, refusal = self.client.answers()
        self.assertEqual((good[0], refusal[0]), (True, False))
        self.assertIn("Cannot parse request", refusal[1])
        self.assertTrue(self.client.transport.disconnecting)
        self.assertEqual(len(self.dispatch.calls), 1)
        self.client.lose()
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_too_long(self) -> None:
        """A request over the limit is refused before its end has come, after the answers to those before it."""
        self.client.send(WAIT + b" " * 1001)
        self.assertEqual(self.client.transport.producerState, "paused")
        self.client.send(b" " * 1001)
        self.assertEqual(self.client.answers(), [])
        self.dispatch.waiting[0].callback(1)
        good, refusal = self.client.answers()
        self.assertEqual(good, (True, 1))
        self.assertIn("longer than the limit of 1000 bytes", refusal[1])
        self.assertTrue(self.client.transport.disconnecting)

    def test_another_table(self) -> None:
        """The same protocol serves another table of methods."""
        table = MethodTable([Method("Add", (Param("a", INT), Param("b", INT)))])
        client = Connection(LuxiFactory(self.dispatch, self.clock, methods=table))
        client.send(request("Add", 1, 2) + TAGS)
        good, unknown = client.answers()
        self.assertEqual(good, (True, [1, 2]))
        self.assertIn("known are Add", unknown[1][1][0])


class LimitTests(ServerTestCase):
    """What one client can do to the others."""

    def test_pipelining(self) -> None:
        """Reading goes on while a request is answered, stops when too many wait, and starts again."""
        self.client.send(WAIT + TAGS * 3)
        self.assertEqual(self.client.transport.producerState, "producing")
        self.client.send(TAGS)
        self.assertEqual(self.client.transport.producerState, "paused")
        self.dispatch.waiting[0].callback(None)
        self.assertEqual(len(self.client.answers()), 5)
        self.assertEqual(self.client.transport.producerState, "producing")

    def test_waiting_size(self) -> None:
        """Few but large requests stop the reading too."""
        large = request("QueryTags", "cluster", "x" * 900)
        self.client.send(WAIT + large * 2)
        self.assertEqual(self.client.transport.producerState, "producing")
        self.client.send(large)
        self.assertEqual(self.client.transport.producerState, "paused")

    def test_idle(self) -> None:
        """A client that brings no whole request is closed, however it drips; one that is served is not."""
        self.client.send(WAIT)
        self.clock.advance(1000)
        self.assertFalse(self.client.transport.disconnecting)
        self.dispatch.waiting[0].callback(None)
        for _ in range(179):
            self.clock.advance(1)
            self.client.send(b" ")
        self.assertFalse(self.client.transport.disconnecting)
        self.clock.advance(1)
        self.assertTrue(self.client.transport.disconnecting)

    def test_client_that_does_not_read(self) -> None:
        """Nothing more is done for a client whose answers pile up, and in the end it is dropped."""
        verifyObject(IPushProducer, self.client.protocol)
        self.assertIs(self.client.transport.producer, self.client.protocol)
        self.client.send(WAIT + TAGS)
        self.client.transport.write = self.full(self.client)  # type: ignore[method-assign]
        self.dispatch.waiting[0].callback(None)
        self.assertEqual(len(self.dispatch.calls), 1)
        self.clock.advance(89)
        self.assertFalse(self.client.transport.disconnected)
        self.clock.advance(1)
        self.assertTrue(self.client.transport.disconnected)
        self.client.lose()
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_client_that_reads_slowly(self) -> None:
        """A client that reads in time is served on."""
        self.client.send(WAIT + TAGS)
        self.client.transport.write = self.full(self.client)  # type: ignore[method-assign]
        self.dispatch.waiting[0].callback(None)
        self.clock.advance(89)
        del self.client.transport.write
        self.protocol().resumeProducing()
        self.clock.advance(89)
        self.assertEqual(self.client.answers(), [(True, ["cluster", ""])])
        self.assertFalse(self.client.transport.disconnecting)

    def full(self, client: Connection) -> Any:
        """A write that fills the transport's buffer, as a transport then says to its producer."""
        return lambda data: self.protocol().pauseProducing()

    def protocol(self) -> LuxiProtocol:
        """The protocol of the client."""
        assert isinstance(self.client.protocol, LuxiProtocol)
        return self.client.protocol

    def test_connections(self) -> None:
        """A connection over the limit is told so and closed; one that ends makes room."""
        second, third = Connection(self.factory), Connection(self.factory)
        self.assertEqual(third.answers(), [(False, "Too many connections, try again later")])
        self.assertTrue(third.transport.disconnecting)
        third.lose()
        second.lose()
        fourth = Connection(self.factory)
        fourth.send(TAGS)
        self.assertEqual(fourth.answers(), [(True, ["cluster", ""])])


class LossTests(ServerTestCase):
    """Connections that end."""

    def test_call_is_cancelled(self) -> None:
        """What is done for a client that has gone is cancelled, and what it queued is not begun."""
        self.client.send(WAIT + TAGS)
        self.client.lose()
        self.assertEqual(self.dispatch.cancelled, 1)
        self.assertEqual(len(self.dispatch.calls), 1)
        self.assertEqual(self.client.answers(), [])
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_cancelled_for_another_reason(self) -> None:
        """A call that somebody else cancels has no answer: the connection is dropped, not left hanging."""
        self.client.send(WAIT)
        self.dispatch.waiting[0].cancel()
        self.assertTrue(self.client.transport.disconnected)
        self.flushLoggedErrors()

    def test_half_a_request(self) -> None:
        """A connection that ends within a request leaves nothing behind."""
        self.client.send(TAGS[:-1])
        self.client.lose()
        self.assertEqual(self.dispatch.calls, [])
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_end_of_daemon(self) -> None:
        """When the daemon ends every connection is dropped."""
        second = Connection(self.factory)
        self.factory.stopFactory()
        self.assertTrue(self.client.transport.disconnected)
        self.assertTrue(second.transport.disconnected)
