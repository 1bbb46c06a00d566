"""Where a running opcode may be stopped."""

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.safe_points import SafePoints
from ganeti_tx.logic.steps import Steps
from ganeti_tx.logic.undos import in_config
from ganeti_tx.model.undo import Undo


class SafePointTests(SynchronousTestCase):
    """SafePoints as units meet them."""

    def setUp(self) -> None:
        self.points = SafePoints()

    def waiting(self, work: "Deferred[int]") -> "Deferred[int]":
        """A unit that waits."""
        return Deferred.fromCoroutine(self.points.wait("a wait", work))

    def test_nobody_stops(self) -> None:
        """Without a stop every point is passed, and what is done is kept in mind."""
        self.points.reach("one")
        self.points.record("one")
        self.assertEqual((self.points.done, self.points.stopped_at), (["one"], None))

    def test_next_point(self) -> None:
        """A stop takes effect at the next point, which is named, and once: what follows cleans up undisturbed."""
        self.points.record("one")
        self.points.stop()
        self.assertRaises(CancelledError, self.points.reach, "two")
        self.points.reach("cleaning")
        self.points.record("cleaning")
        self.assertEqual((self.points.done, self.points.undone), (["one"], ["cleaning"]))
        self.assertEqual(self.points.stopped_at, "two")

    def test_wait(self) -> None:
        """A wait ends at once."""
        waiting = self.waiting(Deferred())
        self.points.stop()
        self.failureResultOf(waiting, CancelledError)
        self.assertEqual(self.points.stopped_at, "a wait")

    def test_wait_that_is_over(self) -> None:
        """A wait that has ended is none any more."""
        work: Deferred[int] = Deferred()
        waiting = self.waiting(work)
        work.callback(1)
        self.points.stop()
        self.assertEqual(self.successResultOf(waiting), 1)
        self.assertIsNone(self.points.stopped_at)

    def test_answer_of_the_cut_off(self) -> None:
        """Whatever is made of being cut off, it is the stop that counts."""
        work: Deferred[int] = Deferred()

        async def patient() -> int:
            try:
                return await work
            except CancelledError:
                return 7

        waiting = Deferred.fromCoroutine(self.points.wait("a wait", patient()))
        self.points.stop()
        self.failureResultOf(waiting, CancelledError)

    def test_shield(self) -> None:
        """Inside the shield nothing is stopped, no wait either; behind it is."""
        work: Deferred[int] = Deferred()
        with self.points.shield():
            waiting = self.waiting(work)
            self.points.stop()
            self.points.reach("undo")
            self.points.record("undo")
            work.callback(1)
        self.assertEqual(self.successResultOf(waiting), 1)
        self.assertEqual(self.points.undone, ["undo"])
        self.assertRaises(CancelledError, self.points.reach, "next")

    def test_undo_steps(self) -> None:
        """Everything is taken back although the stop comes in the midst of it."""
        taken_back: list[str] = []

        async def take_back(undo: Undo) -> None:
            self.points.stop()
            self.points.reach(undo.title)
            taken_back.append(undo.title)

        steps = Steps(lambda entry: None, taken_back.append, take_back, safe_points=self.points)
        steps.plan = [PlannedStep("both")]

        async def work() -> None:
            async with (
                steps,
                steps.step("both", *(in_config(name, IConfig.remove_node, name) for name in ("first", "second"))),
            ):
                raise OpExecError("broken")

        self.failureResultOf(Deferred.fromCoroutine(work()), OpExecError)
        self.assertEqual(taken_back, ["second", "first"])
