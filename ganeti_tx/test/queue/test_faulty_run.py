"""Faults of ours while a job is handed over."""

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ProgrammerError
from ganeti_tx.model.opcodes import OpTestDelay
from ganeti_tx.queue.launcher import IRunner
from ganeti_tx.queue.runs import RETRY_DELAY
from ganeti_tx.test.fakes.launcher import FakeLauncher
from ganeti_tx.test.queue.test_scheduler import Queue, run_now


@define
class FaultyLauncher(FakeLauncher):
    """One that breaks a few times when it is asked for a runner."""

    faults: list[Exception] = field(kw_only=True)

    def reserve(self) -> "Deferred[IRunner]":
        """Break, as long as faults are left."""
        if self.faults:
            raise self.faults.pop()
        return super().reserve()


def broken(job_id: int) -> None:
    """A listener with a fault."""
    raise KeyError(job_id)


class FaultyRunTests(SynchronousTestCase):
    """One job ought to be handed over."""

    def test_tried_again(self) -> None:
        """It keeps nothing from going on, and is tried again later."""
        queue = Queue()
        run_now(queue.store.load())
        launcher = queue.scheduler.runs.launcher = FaultyLauncher(faults=[KeyError(0), KeyError(0)])
        run_now(queue.scheduler.submit([[OpTestDelay(duration=0.0)]]))
        self.assertEqual(len(launcher.faults), 1)
        queue.clock.advance(RETRY_DELAY)
        queue.clock.advance(RETRY_DELAY)
        self.assertEqual([runner.job.id for runner in launcher.runners if runner.job is not None], [1])
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 2)

    def test_end_that_is_not_told(self) -> None:
        """When the fault comes after the job's end, those behind it wait a little, and not for ever."""
        queue = Queue(limit=1)
        run_now(queue.store.load())
        runs = queue.scheduler.runs
        told, runs.over = runs.over, broken
        run_now(queue.scheduler.submit([[OpTestDelay(duration=0.0)], [OpTestDelay(duration=0.0)]]))
        queue.finish(queue.launcher.runners[0])
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)
        self.assertEqual(len(queue.launcher.runners), 1)
        runs.over = told
        queue.clock.advance(RETRY_DELAY)
        self.assertEqual([runner.job.id for runner in queue.launcher.runners if runner.job is not None], [1, 2])

    def test_claimed_twice(self) -> None:
        """Nobody gets a job with which somebody else is busy."""
        queue = Queue()
        queue.scheduler.runs.claim(1)
        error = self.assertRaises(ProgrammerError, queue.scheduler.runs.claim, 1)
        self.assertEqual(str(error), "job 1 is claimed already: CLAIMED")
