"""Waiting for something to happen."""

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.condition import Condition


class ConditionTests(SynchronousTestCase):
    """A condition and who waits for it."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.condition = Condition(self.clock)

    def test_ring(self) -> None:
        """All who wait are woken, once; whoever comes later waits for the next."""
        first, second = self.condition.wait(5), self.condition.wait(7)
        self.assertNoResult(first)
        self.condition.notify_all()
        self.successResultOf(first)
        self.successResultOf(second)
        self.assertEqual((self.condition.is_waited_for, self.clock.getDelayedCalls()), (False, []))
        self.assertNoResult(self.condition.wait(5))

    def test_time(self) -> None:
        """Nobody waits longer than he said; the others go on waiting."""
        short, long = self.condition.wait(5), self.condition.wait(7)
        self.clock.advance(5)
        self.successResultOf(short)
        self.assertNoResult(long)
        self.condition.notify_all()
        self.successResultOf(long)

    def test_cancelled(self) -> None:
        """Whoever gives up is forgotten."""
        waiting = self.condition.wait(5)
        waiting.addErrback(lambda failure: None).cancel()
        self.assertEqual((self.condition.is_waited_for, self.clock.getDelayedCalls()), (False, []))
        self.condition.notify_all()

    def test_waits_again(self) -> None:
        """Whoever waits again while he is being woken hears the next ring, not the same one."""
        again = []
        self.condition.wait(5).addCallback(lambda _: again.append(self.condition.wait(5)))
        self.condition.notify_all()
        self.assertNoResult(again[0])
