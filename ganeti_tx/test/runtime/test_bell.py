"""Waiting for something to happen."""

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.bell import Bell


class BellTests(SynchronousTestCase):
    """A bell and who waits for it."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.bell = Bell(self.clock)

    def test_ring(self) -> None:
        """All who wait are woken, once; whoever comes later waits for the next."""
        first, second = self.bell.wait(5), self.bell.wait(7)
        self.assertNoResult(first)
        self.bell.ring()
        self.successResultOf(first)
        self.successResultOf(second)
        self.assertEqual((self.bell.is_waited_for, self.clock.getDelayedCalls()), (False, []))
        self.assertNoResult(self.bell.wait(5))

    def test_time(self) -> None:
        """Nobody waits longer than he said; the others go on waiting."""
        short, long = self.bell.wait(5), self.bell.wait(7)
        self.clock.advance(5)
        self.successResultOf(short)
        self.assertNoResult(long)
        self.bell.ring()
        self.successResultOf(long)

    def test_cancelled(self) -> None:
        """Whoever gives up is forgotten."""
        waiting = self.bell.wait(5)
        waiting.addErrback(lambda failure: None).cancel()
        self.assertEqual((self.bell.is_waited_for, self.clock.getDelayedCalls()), (False, []))
        self.bell.ring()

    def test_waits_again(self) -> None:
        """Whoever waits again while he is being woken hears the next ring, not the same one."""
        again = []
        self.bell.wait(5).addCallback(lambda _: again.append(self.bell.wait(5)))
        self.bell.ring()
        self.assertNoResult(again[0])
