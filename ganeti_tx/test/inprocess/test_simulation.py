"""The simulation itself: time, processes, sockets and node calls behave as the real ones do."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.endpoints import UNIXClientEndpoint
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.inprocess.simulation import Process, SimulatedTime, Stalled
from ganeti_tx.test.inprocess.sockets import Sockets


class Recorder(Protocol):
    """Remembers what it hears."""

    def __init__(self) -> None:
        self.heard = b""
        self.lost: Failure | None = None

    def dataReceived(self, data: bytes) -> None:
        self.heard += data

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.lost = reason


class Recorders(Factory):
    """Makes them and keeps them."""

    noisy = False

    def __init__(self) -> None:
        self.made: list[Recorder] = []

    def buildProtocol(self, addr: object) -> Recorder:
        self.made.append(Recorder())
        return self.made[-1]


class TimeTests(SynchronousTestCase):
    """Time passes when it is waited for."""

    def test_run(self) -> None:
        """Work that takes hours is done at once, and the clock shows the hours."""
        time = SimulatedTime()
        before = time.seconds()

        async def work() -> str:
            await deferLater(time, 7200)
            return "done"

        self.assertEqual(time.run(work(), 10000), "done")
        self.assertEqual(time.seconds() - before, 7200)

    def test_error(self) -> None:
        """What the work raises comes out."""

        async def work() -> None:
            raise ValueError("wrong")

        self.assertRaises(ValueError, SimulatedTime().run, work(), 1)

    def test_stalled(self) -> None:
        """Work that nobody will ever end is told as such, and so is work that takes too long."""
        time = SimulatedTime()

        async def forever() -> None:
            await Deferred()

        async def long() -> None:
            await deferLater(time, 100)

        self.assertRaises(Stalled, time.run, forever(), 10)
        self.assertRaises(Stalled, time.run, long(), 10)


class ProcessTests(SynchronousTestCase):
    """Processes talk over sockets, and die."""

    def setUp(self) -> None:
        self.time = SimulatedTime()
        self.sockets = Sockets()
        self.server, self.client = (Process(name, self.time, self.sockets) for name in ("server", "client"))
        self.served = Recorders()
        self.server.listenUNIX("/socket", self.served)

    def connect(self) -> Recorder:
        """A connection's client end."""
        endpoint: Any = UNIXClientEndpoint(self.client, "/socket")
        made: Deferred[Recorder] = endpoint.connect(Recorders())
        self.time.pass_time(1)
        return self.successResultOf(made)

    def write(self, protocol: Recorder, data: bytes) -> None:
        """Write at one end."""
        assert protocol.transport is not None
        protocol.transport.write(data)

    def test_stall(self) -> None:
        """What a process that stands still was to do is done afterwards, in order, unless it is cancelled meanwhile."""
        done: list[str] = []
        self.server.callLater(1, done.append, "first")
        timer = self.server.callLater(2, done.append, "cancelled")
        self.server.callLater(9, done.append, "third")
        self.server.stall(5)
        self.server.callLater(3, done.append, "second")
        self.time.pass_time(4)
        self.assertEqual(done, [])
        timer.cancel()
        self.time.pass_time(5)
        self.assertEqual(done, ["first", "second", "third"])

    def test_bytes_arrive_in_order(self) -> None:
        """What is written at one end arrives at the other, a moment later."""
        near = self.connect()
        self.write(near, b"one ")
        self.write(near, b"two")
        self.assertEqual(self.served.made[0].heard, b"")
        self.time.pass_time(1)
        self.assertEqual(self.served.made[0].heard, b"one two")

    def test_close(self) -> None:
        """Who closes has what was written before delivered; both ends hear of the end."""
        near = self.connect()
        self.write(near, b"last words")
        assert near.transport is not None
        near.transport.loseConnection()
        self.time.pass_time(1)
        (far,) = self.served.made
        self.assertEqual(far.heard, b"last words")
        self.assertTrue(far.lost is not None and near.lost is not None)

    def test_death(self) -> None:
        """A dead process does nothing more and hears nothing more; the other end is told."""
        near = self.connect()
        done: list[str] = []
        self.server.callLater(0.5, done.append, "too late")
        self.server.die()
        self.server.callLater(0, done.append, "never")
        self.time.pass_time(1)
        (far,) = self.served.made
        self.assertEqual(done, [])
        self.assertIsNone(far.lost)
        self.assertIsNotNone(near.lost)

    def test_nobody_listens(self) -> None:
        """A socket that nobody listens on refuses."""
        self.server.die()
        endpoint: Any = UNIXClientEndpoint(self.client, "/socket")
        made: Deferred[Recorder] = endpoint.connect(Recorders())
        self.time.pass_time(1)
        self.failureResultOf(made)

    def test_paused(self) -> None:
        """A reader that pauses gets what came meanwhile when it goes on."""
        near = self.connect()
        (far,) = self.served.made
        wire: Any = far.transport
        wire.pauseProducing()
        self.write(near, b"patience")
        self.time.pass_time(1)
        self.assertEqual(far.heard, b"")
        wire.resumeProducing()
        self.time.pass_time(1)
        self.assertEqual(far.heard, b"patience")
