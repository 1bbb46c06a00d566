"""Work whose caller may stop waiting."""

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GenericError
from ganeti_tx.runtime.to_its_end import to_its_end


class ToItsEndTests(SynchronousTestCase):
    """The work waits for `gate`."""

    def setUp(self) -> None:
        self.gate: Deferred[int] = Deferred()
        self.done: list[int] = []
        self.asked = to_its_end(self.work())

    async def work(self) -> int:
        """It is seen when it comes to its end."""
        self.done.append(await self.gate)
        return self.done[0]

    def test_result(self) -> None:
        """The caller gets what comes of it."""
        self.gate.callback(4)
        self.assertEqual(self.successResultOf(self.asked), 4)

    def test_error(self) -> None:
        """The caller gets its error."""
        self.gate.errback(GenericError("no"))
        self.failureResultOf(self.asked, GenericError)

    def test_abandoned(self) -> None:
        """Who stops waiting does not break it off."""
        self.asked.cancel()
        self.failureResultOf(self.asked, CancelledError)
        self.gate.callback(4)
        self.assertEqual(self.done, [4])

    def test_refused_meanwhile(self) -> None:
        """A refusal that nobody hears is nobody's business."""
        self.asked.cancel()
        self.failureResultOf(self.asked, CancelledError)
        self.gate.errback(GenericError("no"))

    def test_broken_meanwhile(self) -> None:
        """A fault that nobody hears is in the log."""
        self.asked.cancel()
        self.failureResultOf(self.asked, CancelledError)
        self.gate.errback(ZeroDivisionError())
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)
