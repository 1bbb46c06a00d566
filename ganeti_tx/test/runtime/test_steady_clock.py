"""The clock of a reactor."""

import time

from twisted.internet.base import ReactorBase
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.steady_clock import steady


class Bare(ReactorBase):
    """A reactor that is never run."""

    def installWaker(self) -> None:
        """Nobody wakes it."""


class SteadyTests(SynchronousTestCase):
    """What is to be done later."""

    def test_monotonic(self) -> None:
        """It is done by the monotonic clock, and so is all that is derived from it."""
        before = time.monotonic()
        reactor = Bare()
        steady(reactor)
        call = reactor.callLater(5, int)
        after = time.monotonic()
        self.assertTrue(before <= call.getTime() - 5 <= after)
        self.assertLessEqual(reactor.timeout() or 0, 5)
        call.reset(7)
        self.assertTrue(after <= call.getTime() - 7 <= time.monotonic())
