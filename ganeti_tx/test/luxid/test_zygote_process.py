"""luxid's end of the zygote, with processes that are only simulated."""

import errno
from collections.abc import Callable
from typing import Any, cast

from twisted.internet.error import ProcessTerminated
from twisted.internet.testing import MemoryReactorClock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxid.zygote_process import FORK, GOOD_LIFE, MAX_RESTART_DELAY, REPORTS, RESTART_DELAY, Zygote
from ganeti_tx.runtime.lifecycle import IllegalTransition
from ganeti_tx.runtime.reactors import IProcessReactor


class Child:
    """A zygote that only notes what it is told."""

    def __init__(self, protocol: Any) -> None:
        self.protocol = protocol
        self.heard: list[bytes] = []
        self.closed = False
        self.deaf = False

    def writeToChild(self, descriptor: int, data: bytes) -> None:
        """An order; as Twisted's, it breaks when the pipe has been closed already."""
        if self.deaf:
            raise KeyError(descriptor)
        self.heard.append(data)

    def write(self, data: bytes) -> None:
        """An order on standard input, lost when that is gone."""
        if not self.deaf:
            self.heard.append(data)

    def closeStdin(self) -> None:
        """No more orders."""
        self.closed = True

    def die(self) -> None:
        """Killed."""
        self.protocol.processExited(Failure(ProcessTerminated(signal=9)))


class Reactor(MemoryReactorClock):
    """Keeps the children."""

    def __init__(self) -> None:
        super().__init__()
        self.children: list[Child] = []
        self.full = False

    def spawnProcess(self, protocol: Any, *args: Any, **options: Any) -> Child:
        """A new child."""
        if self.full:
            raise OSError(errno.EMFILE, "Too many open files")
        self.children.append(Child(protocol))
        return self.children[-1]


class ZygoteTests(SynchronousTestCase):
    """Life, death and reports."""

    def setUp(self) -> None:
        """One that runs."""
        self.reactor = Reactor()
        self.deaths = 0
        self.ended: list[tuple[int, int]] = []
        self.zygote = Zygote(cast(IProcessReactor, self.reactor), self.count, lambda *ended: self.ended.append(ended))
        self.zygote.start()

    def count(self) -> None:
        """Forks were lost."""
        self.deaths += 1

    def test_reports(self) -> None:
        """Each line names a child that ended, however the bytes arrive; what is no report is left out."""
        hear: Callable[[int, bytes], None] = self.reactor.children[0].protocol.childDataReceived
        for byte in b"17 0\njunk\n1":
            hear(REPORTS, bytes((byte,)))
        hear(REPORTS, b"8 -9\n19 1\n")
        hear(2, b"20 1\n")
        self.assertEqual(self.ended, [(17, 0), (18, -9), (19, 1)])

    def test_hears_no_more(self) -> None:
        """The pipe of one that dies may be gone before its death is known; whoever wants a fork is not hurt by that."""
        self.reactor.children[0].deaf = True
        self.zygote.fork()
        self.assertEqual(self.reactor.children[0].heard, [])

    def test_cannot_be_replaced_yet(self) -> None:
        """When the system has no room for another it is tried again until there is one."""
        self.reactor.children[0].die()
        self.reactor.full = True
        self.reactor.advance(RESTART_DELAY * 2)
        self.reactor.advance(MAX_RESTART_DELAY)
        self.assertEqual((len(self.reactor.children), self.deaths), (1, 0))
        self.reactor.full = False
        self.reactor.advance(MAX_RESTART_DELAY)
        self.assertEqual((len(self.reactor.children), self.deaths), (2, 1))

    def test_dies(self) -> None:
        """Another takes its place, and then it is told that forks were lost."""
        self.zygote.fork()
        self.assertEqual(self.reactor.children[0].heard, [FORK])
        self.reactor.advance(GOOD_LIFE + 1)
        self.reactor.children[0].die()
        self.zygote.fork()  # nobody hears it
        self.assertEqual(self.deaths, 0)
        self.reactor.advance(RESTART_DELAY)
        self.assertEqual((len(self.reactor.children), self.deaths), (2, 1))

    def test_growing_pauses(self) -> None:
        """One that dies again and again is started less and less often, but never given up."""
        waited = []
        for _ in range(10):
            before = len(self.reactor.children)
            self.reactor.children[-1].die()
            start = self.reactor.seconds()
            while len(self.reactor.children) == before:
                self.reactor.advance(0.1)
            waited.append(self.reactor.seconds() - start)
        self.assertEqual(waited, sorted(waited))
        self.assertAlmostEqual(waited[-1], MAX_RESTART_DELAY, delta=0.2)

    def test_stop(self) -> None:
        """One that was stopped is not replaced."""
        self.zygote.stop()
        child = self.reactor.children[0]
        self.assertTrue(child.closed)
        self.zygote.fork()  # nobody hears it
        child.die()
        self.reactor.advance(60)
        self.assertEqual((child.heard, len(self.reactor.children)), ([], 1))

    def test_stop_in_a_pause(self) -> None:
        """One that has died is not replaced when all shall end, and nothing is left to do."""
        self.reactor.children[0].die()
        self.zygote.stop()
        self.zygote.stop()
        self.assertEqual(self.reactor.getDelayedCalls(), [])
        self.assertRaises(IllegalTransition, self.zygote.start)
        self.assertEqual(len(self.reactor.children), 1)

    def test_started_twice(self) -> None:
        """There is one zygote at a time."""
        self.assertRaises(IllegalTransition, self.zygote.start)
        self.assertEqual(len(self.reactor.children), 1)
