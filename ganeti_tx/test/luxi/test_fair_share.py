"""How a daemon's time is shared."""

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxi.fair_share import MOST, REMEMBERED, FairShare

BURST = 0.2


class TurnTests(SynchronousTestCase):
    """A process that asks for much work pauses."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(1000)
        self.share = FairShare(self.clock, BURST)

    def test_little_work(self) -> None:
        """Who asks for little never pauses."""
        for _ in range(100):
            self.share.spent(1, BURST / 10)
            self.assertEqual(self.share.pause(1), 0)
            self.clock.advance(BURST)

    def test_much_work(self) -> None:
        """Who asks for much pauses until the debt is small, others do not."""
        self.share.spent(1, BURST + 1)
        self.assertAlmostEqual(self.share.pause(1), 2)
        self.assertEqual(self.share.pause(2), 0)
        self.clock.advance(1.5)
        self.assertAlmostEqual(self.share.pause(1), 0.5)
        self.clock.advance(0.6)
        self.assertEqual(self.share.pause(1), 0)

    def test_half_of_the_time(self) -> None:
        """In the long run a process gets half of the time."""
        worked, begun = 0.0, self.clock.seconds()
        while self.clock.seconds() < begun + 100:
            self.clock.advance(self.share.pause(1) or 0.0)
            self.clock.advance(0.01)
            self.share.spent(1, 0.01)
            worked += 0.01
        self.assertLess(abs(worked - 50), 2)

    def test_most(self) -> None:
        """A debt does not grow without bound."""
        for _ in range(100):
            self.share.spent(1, 10)
        self.assertAlmostEqual(self.share.pause(1), 2 * MOST)

    def test_unknown(self) -> None:
        """Who cannot be told apart is not made to pause."""
        self.share.spent(None, 100)
        self.assertEqual(self.share.pause(None), 0)

    def test_memory(self) -> None:
        """Processes that owe nothing are forgotten."""
        for process in range(10 * REMEMBERED):
            self.share.spent(process, 0.001)
            self.clock.advance(0.01)
        self.assertLess(len(self.share._debts), 2 * REMEMBERED)
