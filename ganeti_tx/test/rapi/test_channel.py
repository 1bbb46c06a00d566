"""How long clients may take, how much they may send and leave unread, and how many they may be."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.channel import HEAD_LIMIT, IDLE_LIMIT, LINGER, READ_LIMIT, SLOWEST
from ganeti_tx.rapi.http.connections import PERIOD, QUIET
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.rapi.request import MAX_BODIES, MAX_BODY, MAX_UNAUTHENTICATED_BODY
from ganeti_tx.test.rapi.requests import Connection, FakeLuxi, Rapi, parse

GET = b"GET /2/x HTTP/1.1\r\nHost: x\r\n\r\n"
PUT = (
    b"PUT /2/x HTTP/1.1\r\nHost: x\r\nAuthorization: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)


async def answer(call: Call) -> object:
    """What LUXI says."""
    return await call.luxi.query_cluster_info()


async def echo(call: Call) -> object:
    """The body."""
    return call.body


OPERATIONS = (
    Operation("GET", "/2/x", "x", frozenset(), answer, "X", {}),
    Operation("PUT", "/2/x", "x", frozenset(), echo, "X", {}),
)


class ChannelCase(SynchronousTestCase):
    """A Remote API with room for four connections."""

    def setUp(self) -> None:
        self.answers: list[Any] = []
        self.rapi = Rapi(
            operations=OPERATIONS,
            luxi=FakeLuxi({"QueryClusterInfo": lambda: self.answers.pop(0) if self.answers else {}}),
            most=4,
        )

    def wait(self, seconds: float) -> None:
        """Time passes, just enough for what is due by then."""
        for _ in range(int(seconds / PERIOD) + 2):
            self.rapi.clock.advance(PERIOD)

    def statuses(self, connection: Connection) -> list[int]:
        """Of the answers since the last look."""
        return [each.status for each in connection.answers()]


class TimeTests(ChannelCase):
    """Slow clients."""

    def test_silent(self) -> None:
        """Who connects and says nothing is hung up on."""
        connection = self.rapi.connect()
        self.wait(HEAD_LIMIT)
        self.assertTrue(connection.transport.disconnecting)
        self.wait(LINGER)
        self.assertTrue(connection.transport.disconnected)

    def test_slow_head(self) -> None:
        """Headers that drip in do not make the time longer; the client is told."""
        connection = self.rapi.connect()
        connection.exchange(b"GET /2/x HTTP/1.1\r\n")
        for _ in range(int(HEAD_LIMIT / 2) + 2):
            connection.channel.dataReceived(b"X-Drip: 1\r\n")
            self.rapi.clock.advance(2)
        self.assertEqual(self.statuses(connection), [408])
        self.assertTrue(connection.gone)

    def test_slow_body(self) -> None:
        """A body has the time that its length takes at the slowest speed, and no more."""
        connection = self.rapi.connect()
        connection.exchange(PUT % (10 * SLOWEST) + b"[")
        self.wait(HEAD_LIMIT + 5)
        self.assertFalse(connection.gone)
        self.wait(7)
        self.assertEqual(self.statuses(connection), [408])

    def test_idle(self) -> None:
        """A connection may rest between two requests, but not for ever; and then a request has its time anew."""
        connection = self.rapi.connect()
        connection.send(GET)
        self.wait(IDLE_LIMIT - 10)
        self.assertEqual([each.status for each in connection.send(GET)], [200])
        self.wait(IDLE_LIMIT - 10)
        self.assertFalse(connection.gone)
        self.wait(10)
        self.assertTrue(connection.gone)

    def test_long_answer(self) -> None:
        """What takes long to be answered is not cut off."""
        slow: Deferred[Any] = Deferred()
        self.answers.append(slow)
        connection = self.rapi.connect()
        connection.send(GET)
        self.wait(10 * IDLE_LIMIT)
        slow.callback({})
        self.assertEqual(self.statuses(connection), [200])

    def test_unread(self) -> None:
        """Who does not read his answer is dropped after its time; who reads it may go on."""
        connection = self.rapi.connect()
        for reads in (True, False):
            connection.send(GET)
            connection.channel.pauseProducing()
            self.wait(READ_LIMIT - 5)
            self.assertFalse(connection.gone)
            if reads:
                connection.channel.resumeProducing()
        self.wait(10)
        self.assertTrue(connection.transport.disconnected)

    def test_no_timers_left(self) -> None:
        """When all have gone, nothing waits any more."""
        connection = self.rapi.connect()
        connection.send(GET)
        connection.lose()
        self.rapi.site.access_log.flush()
        self.assertEqual(self.rapi.clock.getDelayedCalls(), [])


class SizeTests(ChannelCase):
    """Clients that send too much."""

    def refusal(self, data: bytes) -> int:
        """The status with which somebody is sent away before anything more is read."""
        connection = self.rapi.connect()
        [answer] = connection.send(data)
        self.assertTrue(connection.gone)
        connection.channel.dataReceived(b"x" * 100_000)
        self.assertEqual(connection.answers(), [])
        self.wait(LINGER)
        self.assertTrue(connection.transport.disconnected)
        connection.lose()
        return answer.status

    def test_announced(self) -> None:
        """A gigabyte is refused when it is announced, and so is what has no length."""
        self.assertEqual(self.refusal(PUT % 2**30), 413)
        self.assertEqual(self.refusal(PUT % (MAX_BODY + 1)), 413)
        self.assertEqual(self.refusal(PUT.replace(b"Content-Length: %d", b"Transfer-Encoding: chunked")), 411)
        self.assertEqual(self.refusal(PUT % (10**20)), 413)

    def test_asks_first(self) -> None:
        """Who asks before he sends a body is told to, or refused, never both."""
        asking = PUT[:-2] + b"Expect: 100-continue\r\n\r\n"
        self.assertEqual(self.refusal(asking % 2**30), 413)
        self.assertEqual(self.rapi.connect().exchange(asking % 2), b"HTTP/1.1 100 Continue\r\n\r\n")

    def test_unauthenticated(self) -> None:
        """Who shows no credentials may send little."""
        self.assertEqual(self.refusal(PUT.replace(b"Authorization", b"X") % (MAX_UNAUTHENTICATED_BODY + 1)), 413)

    def test_together(self) -> None:
        """All bodies together have a limit too; room is given back when a client goes, or is answered."""
        self.rapi.connections.most = 100
        holders = [self.rapi.connect() for _ in range(MAX_BODIES // MAX_BODY)]
        for holder in holders:
            holder.exchange(PUT % MAX_BODY)
        self.assertEqual(self.refusal(PUT % (MAX_UNAUTHENTICATED_BODY + 1)), 503)
        self.assertEqual([each.status for each in self.rapi.connect().send(GET)], [200])
        holders[0].lose()
        large = b" " * MAX_UNAUTHENTICATED_BODY + b"{}"
        self.assertEqual([each.status for each in self.rapi.connect().send(PUT % len(large) + large)], [200])
        [answer] = holders[1].send(b" " * (MAX_BODY - 2) + b"{}")
        self.assertEqual((answer.status, self.rapi.site.bodies), (200, MAX_BODIES - 2 * MAX_BODY))

    def test_small_have_room(self) -> None:
        """Who announces large bodies and does not send them keeps nobody from sending small ones."""
        self.rapi.connections.most = 100
        for _ in range(MAX_BODIES // MAX_BODY):
            self.rapi.connect().exchange(PUT % MAX_BODY)
        self.assertEqual([each.status for each in self.rapi.connect().send(PUT % 2 + b"{}")], [200])

    def test_head(self) -> None:
        """A head that is too long, or cannot be read, is a bad request with a body that says so."""
        for data in (b"GET /" + b"a" * 20_000, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 4000, b"\x16\x03\x01\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: x\r\nX : y\r\nContent-Length: -1\r\n\r\n", b"GET /\xff HTTP/1.1\r\n",
                     b"GET / HTTP/2.0\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"):  # fmt: skip
            self.assertEqual((data[:20], self.refusal(data)), (data[:20], 400))

    def test_smuggling(self) -> None:
        """A header cannot hold the end of a line, so nothing comes in beside it."""
        self.assertEqual(self.refusal(b"GET /2/x HTTP/1.1\r\nHost: x\rX: y\r\n\r\n"), 400)


class PipelineTests(ChannelCase):
    """Clients that ask faster than they read."""

    def test_one_by_one(self) -> None:
        """A flood of requests is answered one by one: the next is begun when the one before has been answered."""
        slow: list[Deferred[Any]] = [Deferred(), Deferred()]
        self.answers.extend(slow)
        connection = self.rapi.connect()
        connection.channel.dataReceived(GET * 100)
        self.assertEqual(len(self.rapi.luxi.calls), 1)
        slow[0].callback({})
        self.assertEqual((len(self.rapi.luxi.calls), self.statuses(connection)), (2, [200]))

    def test_unread_answers(self) -> None:
        """While an answer is not read, no other is begun, and nothing more is taken in."""
        connection = self.rapi.connect()
        slow: Deferred[Any] = Deferred()
        self.answers.append(slow)
        connection.channel.dataReceived(GET * 100)
        connection.channel.pauseProducing()
        slow.callback({})
        self.assertEqual(len(connection.answers()), 1)
        self.assertEqual(connection.transport.producerState, "paused")
        connection.channel.resumeProducing()
        self.assertEqual(len(connection.answers()), 99)

    def test_too_much_unread(self) -> None:
        """When too much is unread in all, the one who has waited longest is dropped; the unauthenticated first."""
        self.rapi.connections.most_unread = 5
        connections = [self.rapi.connect() for _ in range(4)]
        for connection in connections[1:]:
            connection.send(GET)  # which makes them known
        connections[0].exchange(PUT.replace(b"Authorization", b"X") % 2)
        for number, connection in enumerate(connections):
            self.rapi.clock.advance(0.1)
            connection.channel._written = 2
            connection.channel.pauseProducing()
            if number == 0:
                self.assertFalse(connection.gone)
        self.assertEqual([each.gone for each in connections], [True, True, False, False])


class PlaceTests(ChannelCase):
    """More clients than there is room for."""

    def known(self, host: str = "192.0.2.1") -> Connection:
        """Somebody who has shown who he is."""
        connection = self.rapi.connect(host)
        connection.send(GET)
        self.rapi.clock.advance(0.01)
        return connection

    def unauthenticated(self, host: str = "192.0.2.66") -> Connection:
        """Somebody who has said nothing yet."""
        connection = self.rapi.connect(host)
        self.rapi.clock.advance(0.01)
        return connection

    def test_unauthenticated_first(self) -> None:
        """An unauthenticated peer is evicted, the one who came first; not somebody who is known."""
        known, *silent = self.known(), self.unauthenticated(), self.unauthenticated(), self.unauthenticated()
        self.known()
        self.assertEqual([each.gone for each in (known, *silent)], [False, True, False, False])

    def test_most_of_an_address(self) -> None:
        """Of unauthenticated peers one of the address that has most is evicted."""
        early, *flood = (
            self.unauthenticated("192.0.2.7"),
            self.unauthenticated(),
            self.unauthenticated(),
            self.unauthenticated(),
        )
        self.unauthenticated()
        self.assertEqual([each.gone for each in (early, *flood)], [False, True, False, False])

    def test_resting_first(self) -> None:
        """When all are known, who rests longest is evicted, and not who waits for an answer."""
        self.answers.append(Deferred())
        busy, *resting = self.known(), self.known(), self.known(), self.known()
        self.unauthenticated()
        self.assertEqual([each.gone for each in (busy, *resting)], [False, True, False, False])

    def test_all_busy(self) -> None:
        """When all are known and wait for answers, a new one is refused."""
        self.answers.extend(Deferred() for _ in range(4))
        busy = [self.known() for _ in range(4)]
        late = self.unauthenticated()
        self.assertEqual(([each.gone for each in busy], late.gone, len(self.rapi.connections)), ([False] * 4, True, 4))

    def test_flood(self) -> None:
        """Thousands of idle connections take no more room than there is; somebody who works is not disturbed."""
        known = self.known()
        flood = [self.unauthenticated() for _ in range(2000)]
        self.assertEqual([each.status for each in known.send(GET)], [200])
        self.assertEqual((len(self.rapi.connections), sum(not each.gone for each in flood)), (4, 3))
        self.rapi.clock.advance(QUIET)


class EndTests(ChannelCase):
    """The daemon ends."""

    def setUp(self) -> None:
        super().setUp()
        self.slow: Deferred[Any] = Deferred()
        self.answers.append(self.slow)
        self.busy, self.resting = self.rapi.connect(), self.rapi.connect()
        self.busy.send(GET)
        self.ending = Deferred.fromCoroutine(self.rapi.connections.finish(3.0))

    def test_under_way(self) -> None:
        """What is under way is answered before the end; who rests is hung up on."""
        self.assertEqual((self.busy.gone, self.resting.gone), (False, True))
        self.rapi.clock.pump([0.1] * 10)
        self.assertNoResult(self.ending)
        self.slow.callback({})
        self.assertEqual((self.statuses(self.busy), self.busy.gone), ([200], True))
        self.rapi.clock.pump([0.1] * 2)
        self.successResultOf(self.ending)

    def test_too_long(self) -> None:
        """It does not wait for ever."""
        self.rapi.clock.pump([0.1] * 40)
        self.successResultOf(self.ending)


class GoneTests(ChannelCase):
    """Clients that leave."""

    def test_in_a_body(self) -> None:
        """Who leaves in the middle of a body leaves nothing behind."""
        connection = self.rapi.connect()
        connection.exchange(PUT % 1000 + b"[")
        connection.lose()
        self.assertEqual((self.rapi.site.bodies, len(self.rapi.connections)), (0, 0))
        self.assertEqual(parse(connection.transport.value()), [])
