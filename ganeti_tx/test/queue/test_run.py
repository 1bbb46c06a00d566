"""One job's way through luxid and a process."""

from collections.abc import Callable

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.queue.launcher import IRunner
from ganeti_tx.queue.run import FOLLOWING, Run, Stage, Wish
from ganeti_tx.runtime.lifecycle import IllegalTransition
from ganeti_tx.test.fakes.launcher import FakeRunner

#: What is done to come into each stage.
STEPS: dict[Stage, Callable[[Run], None]] = {
    Stage.RESERVING: lambda run: run.reserve(Deferred()),
    Stage.HANDING_OVER: Run.hand_over,
    Stage.RUNNING: lambda run: run.give_to(runner()),
    Stage.SETTLING: Run.settle,
    Stage.INTERRUPTED: Run.interrupt,
    Stage.RELEASED: Run.release,
}


def runner() -> FakeRunner:
    """A process."""
    return FakeRunner("livelock", 1000)


def at(stage: Stage) -> Run:
    """A run in a stage, by a way that the table allows."""
    ways: dict[Stage, list[Stage]] = {Stage.CLAIMED: []}
    for reached in Stage:
        for following in sorted(FOLLOWING[reached], key=list(Stage).index):
            ways.setdefault(following, [*ways[reached], following])
    run = Run(1)
    for each in ways[stage]:
        STEPS[each](run)
    return run


class RunTests(SynchronousTestCase):
    """The table of stages."""

    def test_every_step(self) -> None:
        """From each stage exactly the listed ones can be reached; what settles may be told so again."""
        for stage in Stage:
            for following, step in STEPS.items():
                run = at(stage)
                self.assertIs(run.stage, stage)
                if following in FOLLOWING[stage] or following is stage is Stage.SETTLING:
                    step(run)
                    self.assertIs(run.stage, following)
                else:
                    self.assertRaises(IllegalTransition, step, run)
                    self.assertIs(run.stage, stage)

    def test_what_belongs_to_a_stage(self) -> None:
        """The reservation is gone when the process is there, the process when it has done with the job."""
        run = Run(1)
        waiting: Deferred[IRunner] = Deferred()
        run.reserve(waiting)
        self.assertIs(run.reservation, waiting)
        run.hand_over()
        self.assertEqual((run.reservation, run.runner), (None, None))
        process = runner()
        run.give_to(process)
        self.assertIs(run.runner, process)
        run.settle()
        self.assertEqual((run.reservation, run.runner), (None, None))

    def test_wishes(self) -> None:
        """Who was to be killed is not to be canceled only."""
        run = Run(1)
        self.assertFalse(run.canceled)
        for wish, then in ((Wish.CANCEL, Wish.CANCEL), (Wish.KILL, Wish.KILL), (Wish.CANCEL, Wish.KILL)):
            run.ask(wish)
            self.assertTrue(run.canceled)
            self.assertIs(run.wish, then)
