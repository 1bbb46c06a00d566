"""Tests of taking steps back."""

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.rollback import Rollback


class RollbackTests(SynchronousTestCase):
    """What happens when the block is left."""

    def setUp(self) -> None:
        self.done: list[str] = []
        self.warnings: list[str] = []
        self.fault: Exception = OpExecError("cannot")

    async def step(self, name: str) -> None:
        """An undo step that is kept in mind."""
        if name == "broken":
            raise self.fault
        self.done.append(name)

    async def work(self, end: "Deferred[None]") -> None:
        """Three steps, of which the second cannot be undone."""
        async with Rollback(self.warnings.append) as rollback:
            for name in ("first", "broken", "last"):
                rollback.undo(self.step, name)
            await end

    def test_success_undoes_nothing(self) -> None:
        """What went well stays."""
        end: Deferred[None] = Deferred()
        result = Deferred.fromCoroutine(self.work(end))
        end.callback(None)
        self.successResultOf(result)
        self.assertEqual(self.done, [])

    def test_failure_undoes_last_first(self) -> None:
        """Every step is undone, last first; one that cannot be does not stop the others, and the first error goes on."""
        end: Deferred[None] = Deferred()
        result = Deferred.fromCoroutine(self.work(end))
        end.errback(OpExecError("too late"))
        self.assertEqual(str(self.failureResultOf(result, OpExecError).value), "too late")
        self.assertEqual(self.done, ["last", "first"])
        self.assertEqual(self.warnings, ["could not undo a step: cannot"])

    def test_fault_of_ours(self) -> None:
        """An undo step that is wrong itself does not stop the others either."""
        self.fault = KeyError("disk")
        end: Deferred[None] = Deferred()
        result = Deferred.fromCoroutine(self.work(end))
        end.errback(OpExecError("too late"))
        self.failureResultOf(result, OpExecError)
        self.assertEqual(self.done, ["last", "first"])
        self.assertIn("internal error", self.warnings[0])
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)

    def test_cancellation_undoes(self) -> None:
        """A cancelled job takes its steps back too."""
        result = Deferred.fromCoroutine(self.work(Deferred()))
        result.cancel()
        self.failureResultOf(result, CancelledError)
        self.assertEqual(self.done, ["last", "first"])
