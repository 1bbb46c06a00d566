"""One collector on its interval."""

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.mond.envelope import Report
from ganeti_tx.mond.interfaces import Category
from ganeti_tx.mond.run import LIMIT, CollectorFailed, Run
from ganeti_tx.test.mond.parts import Scripted


class RunTests(SynchronousTestCase):
    """A collector whose looks end when the test says so."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.collector = Scripted(category=Category.STORAGE)
        self.run_ = Run(self.collector, self.clock, lambda: int(self.clock.seconds() * 1e9))

    def asked(self) -> "Deferred[Report]":
        """A client's question."""
        return Deferred.fromCoroutine(self.run_.report())

    def end(self, result: Any) -> None:
        """The last look ends."""
        look = self.collector.looks[-1]
        if isinstance(result, Exception):
            look.errback(result)
        else:
            look.callback(result)

    def test_interval(self) -> None:
        """It looks at once and then on its interval."""
        self.run_.every(5)
        for number in range(1, 4):
            self.assertEqual(len(self.collector.looks), number)
            self.end(number)
            self.clock.advance(5)

    def test_never_twice(self) -> None:
        """A look that takes longer than the interval is not joined by another; the next comes on the interval."""
        self.run_.every(5)
        self.clock.pump([5, 5, 1])
        self.assertEqual(len(self.collector.looks), 1)
        self.end("late")
        self.assertEqual(len(self.collector.looks), 1)
        self.clock.advance(4)
        self.assertEqual(len(self.collector.looks), 2)

    def test_first_report(self) -> None:
        """Who asks before the first look has ended waits for it."""
        self.run_.every(5)
        asked = self.asked()
        self.assertNoResult(asked)
        self.clock.advance(2)
        self.end({"a": 1})
        report = self.successResultOf(asked)
        self.assertEqual((report.data, report.timestamp, report.category), ({"a": 1}, 2_000_000_000, "storage"))

    def test_kept(self) -> None:
        """The last report stays, with its time, until the next look has ended."""
        self.run_.every(5)
        self.end("first")
        self.clock.advance(6)
        self.assertEqual(self.successResultOf(self.asked()).timestamp, 0)
        self.end("second")
        self.assertEqual(self.successResultOf(self.asked()).data, "second")

    def test_fails(self) -> None:
        """A look that fails takes the report away and is counted; the next one that does not brings it back."""
        self.run_.every(5)
        self.end("good")
        for error, text in (
            (BlockDeviceError("lvs failed"), "collector scripted: lvs failed"),
            (FileNotFoundError(2, "No such file", "/proc/x"), "collector scripted: /proc/x: No such file"),
        ):
            self.clock.advance(5)
            self.end(error)
            self.assertEqual(str(self.failureResultOf(self.asked(), CollectorFailed).value), text)
        self.assertEqual((self.run_.failures, self.run_.last), (2, None))
        self.clock.advance(5)
        self.end("good again")
        self.assertEqual(self.successResultOf(self.asked()).data, "good again")

    def test_fault_of_ours(self) -> None:
        """A fault of ours is a failed look like another; what it was goes into the log only."""
        self.run_.every(5)
        self.end(ZeroDivisionError("secret"))
        self.assertNotIn("secret", str(self.failureResultOf(self.asked(), CollectorFailed).value))
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)
        self.clock.advance(5)
        self.assertEqual(len(self.collector.looks), 2)

    def test_limit(self) -> None:
        """A look that takes too long is ended and has failed; there are more afterwards."""
        self.run_.every(5)
        asked = self.asked()
        self.clock.advance(LIMIT)
        self.assertEqual(self.collector.cancelled, self.collector.looks)
        self.assertIn("more than 20 seconds", str(self.failureResultOf(asked, CollectorFailed).value))
        self.clock.advance(5)
        self.assertEqual(len(self.collector.looks), 2)

    def test_stopped(self) -> None:
        """When it is stopped the look ends, who waits is told, the report is forgotten and nothing is left to do."""
        self.run_.every(5)
        asked = self.asked()
        self.run_.stop()
        self.failureResultOf(asked, CollectorFailed)
        self.failureResultOf(self.asked(), CollectorFailed)
        self.assertEqual((self.run_.failures, self.clock.getDelayedCalls()), (0, []))
        self.run_.every(5)
        self.assertEqual(len(self.collector.looks), 2)

    def test_asker_gone(self) -> None:
        """Who asked and hung up leaves nothing behind."""
        self.run_.every(5)
        asked = self.asked()
        asked.cancel()
        self.failureResultOf(asked, CancelledError)
        self.end("good")

    def test_new_interval(self) -> None:
        """Another interval holds from then on, also when it is set in the middle of a look; the same changes nothing."""
        self.run_.every(60)
        self.run_.every(2)
        self.clock.advance(2)
        self.assertEqual(len(self.collector.looks), 1)
        self.end("first")
        self.run_.every(2)
        self.clock.advance(2)
        self.assertEqual(len(self.collector.looks), 2)
        self.end("second")
        self.clock.advance(2)
        self.assertEqual(len(self.collector.looks), 3)
