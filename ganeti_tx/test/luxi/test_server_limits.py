"""How much clients can make the server hold, and for how long."""

import json
from typing import Any

from twisted.internet.interfaces import IPushProducer
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.luxi.limits import Limits
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.luxi.server import LuxiFactory, LuxiProtocol
from ganeti_tx.test.luxi.server_case import TAGS, WAIT, Connection, Dispatch, ServerTestCase, request


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
        """A client that says nothing is closed; one that is served is not."""
        self.client.send(WAIT)
        self.clock.advance(1000)
        self.assertFalse(self.client.transport.disconnecting)
        self.dispatch.waiting[0].callback(None)
        self.client.answers()
        self.clock.advance(179)
        self.assertFalse(self.client.transport.disconnecting)
        self.clock.advance(1)
        self.assertTrue(self.client.transport.disconnecting)
        self.assertEqual(self.client.answers(), [])

    def test_drip(self) -> None:
        """A request that has no end in time is refused, however steadily its bytes come; the clock starts with it."""
        self.clock.advance(100)
        for _ in range(60):
            self.assertFalse(self.client.transport.disconnecting)
            self.client.send(b" ")
            self.clock.advance(1)
        self.assertEqual(self.client.answers(), [(False, "Cannot parse request: it had no end after 60 seconds")])
        self.assertTrue(self.client.transport.disconnecting)
        self.client.send(TAGS)
        self.client.lose()
        self.assertEqual((self.dispatch.calls, self.clock.getDelayedCalls()), ([], []))

    def test_each_request_has_its_time(self) -> None:
        """The time of a request begins with its own first byte, or when the one before it has been answered."""
        for _ in range(5):
            self.client.send(TAGS[:5])
            self.clock.advance(59)
            self.client.send(TAGS[5:] + TAGS + WAIT[:7])
            self.clock.advance(59)
            self.client.send(WAIT[7:] + TAGS[:1])
            self.clock.advance(1000)
            self.dispatch.waiting.pop().callback(None)
            self.clock.advance(59)
            self.client.send(TAGS[1:])
            self.clock.advance(179)
        self.assertFalse(self.client.transport.disconnecting)

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
        """While all connections are busy, one more is told so and closed; one that ends makes room."""
        second = Connection(self.factory)
        for busy in (self.client, second):
            busy.send(WAIT)
        third = Connection(self.factory)
        self.assertEqual(third.answers(), [(False, "Too many connections, try again later: all 2 are busy")])
        self.assertTrue(third.transport.disconnecting)
        third.send(TAGS)
        third.lose()
        second.lose()
        fourth = Connection(self.factory)
        fourth.send(TAGS)
        self.assertEqual(fourth.answers(), [(True, ["cluster", ""])])
        self.assertEqual(self.factory.connections, 2)

    def test_idle_makes_way(self) -> None:
        """The one that rests longest is evicted for another, whether it ever asked or is in the middle of a request."""
        for first in (b"", TAGS, TAGS[:5]):
            factory = LuxiFactory(self.dispatch, self.clock, limits=Limits(connections=2))
            resting, second = Connection(factory), Connection(factory)
            resting.send(first)
            self.clock.advance(10)
            second.send(TAGS)
            third = Connection(factory)
            third.send(TAGS)
            self.assertEqual(third.answers(), [(True, ["cluster", ""])])
            self.assertTrue(resting.transport.disconnecting)
            self.assertFalse(second.transport.disconnecting)

    def test_just_served(self) -> None:
        """One that was served a moment ago keeps its place."""
        second = Connection(self.factory)
        for each in (self.client, second):
            each.send(TAGS)
        self.clock.advance(4)
        self.assertIn("all 2 are busy", Connection(self.factory).answers()[0][1])
        self.clock.advance(1)
        Connection(self.factory).send(TAGS)
        self.assertEqual([each.transport.disconnecting for each in (self.client, second)].count(True), 1)

    def test_who_does_not_read_makes_way(self) -> None:
        """A client that leaves its answer unread for a while is dropped for another."""
        second = Connection(self.factory)
        second.send(WAIT)
        self.client.send(WAIT)
        self.client.transport.write = self.full(self.client)  # type: ignore[method-assign]
        self.dispatch.waiting[1].callback(None)
        self.assertIn("all 2 are busy", Connection(self.factory).answers()[0][1])
        self.clock.advance(5)
        third = Connection(self.factory)
        self.assertEqual(third.answers(), [])
        self.assertTrue(self.client.transport.disconnected)
        self.client.lose()
        self.assertEqual(self.factory.connections, 2)


class BoundTests(ServerTestCase):
    """What a request may hold, and all requests together."""

    def refusal(self, args: str) -> str:
        """The refusal of a request with these arguments; the connection is closed."""
        client = Connection(LuxiFactory(self.dispatch, self.clock))
        client.send(b'{"method": "Query", "args": ' + args.encode() + b"}\x03")
        ((success, reason),) = client.answers()
        self.assertFalse(success)
        self.assertTrue(client.transport.disconnecting)
        self.assertEqual(self.dispatch.calls, [])
        self.assertLess(len(reason), 300)
        return str(reason)

    def test_depth(self) -> None:
        """Deep nesting is refused, whether it could be read or not, closed or not."""
        self.assertIn("nested deeper than 100", self.refusal("[" * 102 + "]" * 102))
        self.assertIn("nested deeper than 100", self.refusal('{"a":' * 102 + "1" + "}" * 102))
        self.assertIn("nested deeper than 100", self.refusal("[" * 100_000 + "]" * 100_000))
        self.assertIn("nested deeper than 100", self.refusal("[" * 100_000))

    def test_allowed_depth(self) -> None:
        """What is nested less deep is looked at."""
        self.client.send(request("QueryTags", "cluster", json.loads("[" * 90 + "]" * 90)))
        self.assertIn("expected a string", self.client.answers()[0][1][1][0])

    def test_values(self) -> None:
        """So are too many values."""
        self.assertIn("allowed are 250000", self.refusal("[" + "[]," * 250_000 + "[]]"))

    def test_integers(self) -> None:
        """And numbers that nothing else can hold, at any depth."""
        for number in (2**64, -(2**63) - 1, 10**4000):
            self.assertIn("allowed are -9223372036854775808", self.refusal(f'[["x", {{"a": {number}}}]]'))
        self.assertIn("range", self.refusal("1" * 100_000))
        self.assertIn("range", self.refusal("1e999"))

    def test_text(self) -> None:
        """Text that is no UTF-8, and half a surrogate pair, are refused."""
        self.client.send(b'{"method": "QueryTags", "args": ["cluster", "\xff"]}\x03')
        self.assertIn("Cannot parse", self.client.answers()[0][1])
        self.assertIn("Cannot parse", self.refusal('["\\ud800"]'))

    def test_nul(self) -> None:
        """So is text that no program could be given, as a value or a key; it would fail in a hook, or on a node."""
        for args in ('["a\\u0000b"]', '[[{"disks": [{"name": "a\\u0000"}]}]]', '[{"dhcp\\u0000": "yes"}]'):
            self.assertIn("NUL", self.refusal(args))
        self.assertNotIn("hunter2", self.refusal('[[{"osparams_secret": {"password": "hunter2\\u0000"}}]]'))
        self.client.send(request("QueryTags", "cluster", r"a\u0000"))
        self.assertNotIn("Cannot parse", str(self.client.answers()[0][1]))


class RoomTests(SynchronousTestCase):
    """A server whose requests and answers share little room."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.dispatch = Dispatch()
        limits = Limits(request=1000, requests_size=2000, answers_size=2000)
        self.factory = LuxiFactory(self.dispatch, self.clock, limits=limits)

    def connect(self, process: int) -> Connection:
        """A client of a process."""
        connection = Connection(self.factory)
        assert isinstance(connection.protocol, LuxiProtocol)
        self.factory._places.left(connection.protocol)
        connection.protocol._peer = Peer(process, 0, 0)
        self.assertIsNone(self.factory._places.join(connection.protocol))
        return connection

    def test_largest_process_gives_way(self) -> None:
        """Many unfinished requests of one process are in its own way, not in that of a larger one of another process."""
        many = [self.connect(1) for _ in range(4)]
        other = self.connect(2)
        for each in many[:3]:
            each.send(b" " * 400)
        other.send(b" " * 700)
        many[3].send(b" " * 500)
        self.assertEqual(other.answers(), [])
        self.assertIn("too much room", many[3].answers()[0][1])
        self.assertEqual([each.answers() for each in many[:3]], [[]] * 3)

    def test_requests_under_way_count(self) -> None:
        """A request that is being answered still takes its room, until it is answered."""
        first, second = self.connect(1), self.connect(1)
        first.send(request("WaitForJobChange", 1, ["x" * 500], None, None, 60))
        self.assertEqual(len(self.dispatch.waiting), 1)
        second.send(b" " * 900)
        self.assertIn("too much room", first.answers()[0][1])
        self.assertEqual(self.dispatch.cancelled, 1)
        self.assertEqual(second.answers(), [])
        self.assertEqual(self.flushLoggedErrors(), [])

    def test_room_is_given_back(self) -> None:
        """An answered request, a lost and a refused connection take no room any more."""
        for _ in range(20):
            client = self.connect(1)
            client.send(request("QueryTags", "cluster", "x" * 200))
            client.send(b" " * 900)
            client.lose()
            client = self.connect(1)
            client.send(b" " * 1001)
            client.lose()
        self.assertEqual(self.factory._places.requests.total, 0)
        self.assertEqual(self.factory.connections, 0)

    def test_many_values_weigh(self) -> None:
        """A short request of many values takes the room that they will need."""
        client = self.connect(1)
        client.send(request("QueryTags", *[[]] * 20))
        self.assertIn("too much room", client.answers()[0][1])
        self.assertEqual(self.dispatch.calls, [])

    def test_busy_process_pauses(self) -> None:
        """Requests of a process that keeps the daemon busy wait a while, as soon as there is another process."""
        busy = self.connect(1)
        self.factory._places.share.spent(1, 1.0)
        busy.send(TAGS)
        self.assertEqual(len(busy.answers()), 1)
        other = Connection(self.factory)
        busy.send(TAGS)
        other.send(TAGS)
        self.assertEqual((len(busy.answers()), len(other.answers())), (0, 1))
        self.clock.advance(2)
        self.assertEqual(len(busy.answers()), 1)

    def test_gone_while_pausing(self) -> None:
        """Who hangs up while his request waits leaves nothing behind."""
        busy = self.connect(1)
        Connection(self.factory)
        self.factory._places.share.spent(1, 1.0)
        busy.send(TAGS)
        busy.lose()
        self.clock.advance(10)
        self.assertEqual(self.dispatch.calls, [])

    def test_long_errors(self) -> None:
        """An error that repeats what was sent is cut short."""
        factory = LuxiFactory(self.dispatch, self.clock)
        client = Connection(factory)
        client.send(request("x" * 500_000) + request("ArchiveJob", "7" * 500_000))
        for success, (_name, (text, *_more)) in client.answers():
            self.assertFalse(success)
            self.assertLess(len(text), 70_000)

    def test_unread_answers(self) -> None:
        """When unread answers take too much room, the process that leaves most of them unread loses a connection."""
        slow = [self.connect(1) for _ in range(3)]
        other = self.connect(2)
        for client in (*slow, other):
            client.transport.write = lambda data, client=client: client.protocol.pauseProducing()  # type: ignore
            client.send(request("QueryTags", "cluster", "x" * 600))
        self.assertEqual(sum(each.transport.disconnected for each in slow), 1)
        self.assertFalse(other.transport.disconnected)
