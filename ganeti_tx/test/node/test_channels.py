"""How long callers of a node daemon may take, and how many unauthenticated peers there may be."""

from typing import Any

from attrs import define
from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.answers import answers
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.http import HANG_UP_TURNS, IDLE_LIMIT, MAX_REQUEST, MAX_UNAUTHENTICATED_BODY, NodeSite
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.wire import encode_call
from ganeti_tx.runtime.limited_channel import HEAD_LIMIT, LINGER, MAX_UNAUTHENTICATED, READ_LIMIT, SLOWEST

BODY = encode_call(Version())
HEAD = b"POST /version HTTP/1.1\r\nHost: node1\r\nContent-Length: %d\r\n\r\n"
CALL = HEAD % len(BODY) + BODY


@define(eq=False)
class Caller:
    """One connection with what the node wrote."""

    channel: Any
    transport: StringTransport
    clock: Clock

    def send(self, data: bytes) -> None:
        """Bytes arrive, and nothing else for a while."""
        self.deliver(data)
        for _ in range(HANG_UP_TURNS):
            self.clock.advance(0)

    def deliver(self, data: bytes) -> None:
        """Bytes arrive."""
        self.channel.dataReceived(data)

    def status(self) -> int | None:
        """The status of the answer since the last look."""
        lines = self.transport.value().splitlines()
        self.transport.clear()
        return int(lines[0].split()[1]) if lines else None

    @property
    def gone(self) -> bool:
        """Whether the node hung up at once."""
        return self.transport.disconnected

    def lose(self) -> None:
        """The caller hangs up."""
        self.channel.connectionLost(Failure(ConnectionDone()))


class ChannelCase(SynchronousTestCase):
    """A node that accepts the calls of those who connect from port 1."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.begun = 0
        self.site = NodeSite(NodeDispatch(self), self.admitted, self.clock)

    @answers(Version)
    async def version(self, call: Version) -> int:
        """The only call."""
        self.begun += 1
        return 42

    def admitted(self, transport: Any) -> bool:
        """By the port of the peer."""
        return bool(transport.getPeer().port == 1)

    def connect(self, admitted: bool = True, host: str = "192.0.2.1") -> Caller:
        """A new connection."""
        transport = StringTransport(peerAddress=IPv4Address("TCP", host, 1 if admitted else 2))
        channel = self.site.buildProtocol(None)
        channel.makeConnection(transport)
        return Caller(channel, transport, self.clock)


class TimeTests(ChannelCase):
    """A request has its time."""

    def test_call(self) -> None:
        """A call is answered, again and again, and leaves no timer but that of an idle connection."""
        caller = self.connect()
        for _ in range(3):
            caller.send(CALL)
            self.assertEqual(caller.status(), 200)
            self.clock.advance(100)
        self.assertFalse(caller.gone)
        caller.lose()
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_silence(self) -> None:
        """Who connects and says nothing, in TLS or in HTTP, is gone soon."""
        caller = self.connect()
        self.clock.advance(HEAD_LIMIT - 1)
        self.assertFalse(caller.gone)
        self.clock.advance(1)
        self.assertTrue(caller.gone)

    def test_slow_head(self) -> None:
        """Lines that drip in gain no time, not on a kept connection either."""
        caller = self.connect()
        caller.send(CALL)
        self.clock.advance(60)
        caller.send(b"POST /version HTTP/1.1\r\n")
        for _ in range(int(HEAD_LIMIT) - 1):
            self.clock.advance(1)
            caller.send(b"X-A: b\r\n")
        self.assertFalse(caller.gone)
        self.clock.advance(1)
        self.assertTrue(caller.gone)

    def test_slow_body(self) -> None:
        """A body has as long as its bytes take at the slowest speed."""
        caller = self.connect()
        caller.send(HEAD % (10 * SLOWEST))
        for _ in range(int(HEAD_LIMIT) + 9):
            self.clock.advance(1)
            caller.send(b"x")
        self.assertFalse(caller.gone)
        self.clock.advance(1)
        self.assertTrue(caller.gone)

    def test_refused_body(self) -> None:
        """Who is refused for the length of his body has little time to hang up; what he sends on is not kept."""
        for admitted, length in ((True, MAX_REQUEST + 1), (True, 2**40), (False, MAX_UNAUTHENTICATED_BODY + 1)):
            caller = self.connect(admitted)
            caller.send(HEAD % length + b"x" * 100_000)
            self.assertEqual(caller.status(), 413)
            self.assertTrue(caller.transport.disconnecting)
            self.clock.advance(LINGER)
            self.assertTrue(caller.gone)
        self.assertEqual(self.site.bodies, 0)

    def test_asks_first(self) -> None:
        """Who asks before he sends a body is told to, or refused, never both."""
        asking = HEAD[:-2] + b"Expect: 100-continue\r\n\r\n"
        caller = self.connect()
        caller.send(asking % (MAX_REQUEST + 1))
        self.assertEqual((caller.transport.value().count(b"HTTP/1.1"), caller.status()), (1, 413))
        caller = self.connect()
        caller.send(asking % len(BODY))
        self.assertEqual(caller.transport.value(), b"HTTP/1.1 100 Continue\r\n\r\n")

    def test_bodies_together(self) -> None:
        """Bodies that together are too large are refused; the room comes back with the answer and with the loss."""
        first, second, third = (self.connect() for _ in range(3))
        for caller in (first, second):
            caller.send(HEAD % MAX_REQUEST)
            self.assertIsNone(caller.status())
        third.send(CALL)
        self.assertEqual(third.status(), 503)
        first.lose()
        fourth = self.connect()
        fourth.send(CALL)
        self.assertEqual(fourth.status(), 200)
        second.lose()
        self.assertEqual(self.site.bodies, 0)

    def test_long_lines(self) -> None:
        """A head without an end is cut off."""
        for junk in (b"x" * 1_000_000, b"POST / HTTP/1.1\r\n" + b"A: b\r\n" * 100_000, b"\x16\x03\x01" * 10_000):
            caller = self.connect()
            caller.send(junk)
            self.assertTrue(caller.transport.disconnecting or caller.gone)


class UnreadTests(ChannelCase):
    """A caller that does not read."""

    def test_refusals(self) -> None:
        """It is refused no more often than it reads, and sent away in the end."""
        caller = self.connect(admitted=False)
        caller.channel.pauseProducing()  # as the transport does when there is more than it likes
        caller.deliver(CALL * 1000)
        self.assertIsNone(caller.status())
        caller.channel.resumeProducing()
        self.assertEqual(caller.transport.value().count(b"403"), 1000)
        caller.channel.pauseProducing()
        self.clock.advance(IDLE_LIMIT)
        self.assertTrue(caller.transport.disconnecting)

    def test_last_answer(self) -> None:
        """Whose last answer it was has its time to read it."""
        caller = self.connect()
        caller.send(CALL.replace(b"Host", b"Connection: close\r\nHost"))
        self.assertEqual((caller.status(), caller.transport.disconnecting, caller.gone), (200, True, False))
        self.clock.advance(READ_LIMIT)
        self.assertTrue(caller.gone)


class GivenUpTests(ChannelCase):
    """A call that its caller gave up while the daemon stood still."""

    def test_not_begun(self) -> None:
        """It is not begun when the hang-up is heard right after it."""
        caller = self.connect()
        caller.deliver(CALL)
        caller.lose()
        self.clock.advance(10)
        self.assertEqual(self.begun, 0)

    def test_begun(self) -> None:
        """It is when its caller is still there."""
        caller = self.connect()
        caller.send(CALL)
        self.assertEqual((self.begun, caller.status()), (1, 200))


class UnauthenticatedTests(ChannelCase):
    """Who has not shown that he may call."""

    def test_oldest_goes(self) -> None:
        """One unauthenticated peer too many evicts the oldest, and is served."""
        crowd = [self.connect() for _ in range(MAX_UNAUTHENTICATED)]
        late = self.connect()
        self.assertEqual([each.gone for each in crowd], [True] + [False] * (MAX_UNAUTHENTICATED - 1))
        late.send(CALL)
        self.assertEqual(late.status(), 200)

    def test_known_stay(self) -> None:
        """Who has made a call is authenticated."""
        known = [self.connect() for _ in range(MAX_UNAUTHENTICATED)]
        for each in known:
            each.send(CALL)
        crowd = [self.connect() for _ in range(2 * MAX_UNAUTHENTICATED)]
        self.assertFalse(any(each.gone for each in known))
        self.assertEqual(sum(each.gone for each in crowd), MAX_UNAUTHENTICATED)

    def test_refused_stay_unauthenticated(self) -> None:
        """Who was refused is still one."""
        crowd = [self.connect(admitted=False) for _ in range(MAX_UNAUTHENTICATED)]
        for each in crowd:
            each.send(CALL)
            self.assertEqual(each.status(), 403)
        self.connect()
        self.assertTrue(crowd[0].gone)

    def test_by_address(self) -> None:
        """The address with most unauthenticated peers loses one, not the one that came first."""
        master = self.connect()
        crowd = [self.connect(host="192.0.2.66") for _ in range(3 * MAX_UNAUTHENTICATED)]
        self.assertFalse(master.gone)
        self.assertEqual(sum(not each.gone for each in crowd), MAX_UNAUTHENTICATED - 1)
        master.send(CALL)
        self.assertEqual(master.status(), 200)

    def test_places_come_back(self) -> None:
        """Who hangs up makes room."""
        for _ in range(3 * MAX_UNAUTHENTICATED):
            self.connect().lose()
        self.assertFalse(self.connect().gone)
        self.assertEqual(len(self.clock.getDelayedCalls()), 2)
