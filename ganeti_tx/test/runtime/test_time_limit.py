"""Waiting for something only so long."""

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.time_limit import within


class WithinTests(SynchronousTestCase):
    """Five seconds for something."""

    def setUp(self) -> None:
        self.clock, self.waited = Clock(), Deferred[int]()
        self.heard = within(5.0, self.clock, self.waited)

    def test_in_time(self) -> None:
        """What comes in time is heard, and no call is left over."""
        self.waited.callback(3)
        self.assertEqual(self.successResultOf(self.heard), 3)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_fails_in_time(self) -> None:
        """So is a failure."""
        self.waited.errback(ValueError("no"))
        self.failureResultOf(self.heard, ValueError)

    def test_late(self) -> None:
        """What comes later is not waited for, goes on, and may end or fail without anybody."""
        self.clock.advance(5.0)
        self.assertIsNone(self.successResultOf(self.heard))
        self.waited.errback(ValueError("no"))
        self.assertEqual(self.flushLoggedErrors(), [])

    def test_given_up(self) -> None:
        """Who stops waiting stops nothing."""
        self.heard.cancel()
        self.failureResultOf(self.heard, CancelledError)
        self.waited.callback(3)
        self.assertEqual(self.clock.getDelayedCalls(), [])
