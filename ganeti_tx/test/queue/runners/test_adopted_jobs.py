"""Runners that a luxid finds which was started again."""

from pathlib import Path

from ganeti_tx.queue.job import QueuedJob
from ganeti_tx.queue.launcher import RunnerDied
from ganeti_tx.queue.runners.process_launcher import (
    LIVENESS_INTERVAL,
)
from ganeti_tx.queue.runners.runner_channel import (
    JobOver,
    Leave,
    RunJob,
    StopJob,
)
from ganeti_tx.test.queue.runners.launcher_case import OP, LauncherCase, job_of, lock


class AdoptedJobTests(LauncherCase):
    """After a restart of luxid."""

    def test_adopted_job_comes_back(self) -> None:
        """A runner that was found with a job, and stepped back from it, leaves; the rest is for one of our own version."""
        line = self.connect(1, job_id=7)
        runner = self.launcher.adopt(job_of(7, 1))
        assert runner is not None
        over = runner.run(job_of(7, 1), {})
        line.say(JobOver(7))
        self.successResultOf(over)
        self.assertEqual(line.heard(), [Leave()])
        line.break_off()
        waiting = self.launcher.reserve()
        ours = self.connect(2)
        again = self.successResultOf(waiting)
        over = again.run(job_of(7, 2), {})
        self.assertNoResult(over)
        self.assertEqual(ours.heard(), [RunJob(job_of(7, 2), {})])

    def test_adopt_the_living(self) -> None:
        """A process that lives is waited for, and not sent the job a second time."""
        self.liveness.start(Path(lock(1)))
        runner = self.launcher.adopt(job_of(7, 1))
        assert runner is not None
        over = runner.run(job_of(7, 1), {})
        line = self.connect(1, job_id=7)
        self.assertEqual(line.heard(), [])
        runner.cancel()
        self.assertEqual(line.heard(), [StopJob()])
        line.say(JobOver(7))
        self.successResultOf(over)

    def test_adopt_what_is_connected(self) -> None:
        """A process may be back before luxid asks for it."""
        line = self.connect(1, job_id=7)
        runner = self.launcher.adopt(job_of(7, 1))
        assert runner is not None
        over = runner.run(job_of(7, 1), {})
        self.assertNoResult(over)
        line.say(JobOver(7))
        self.successResultOf(over)

    def test_adopt_what_has_finished(self) -> None:
        """A job that ended before luxid took it up again is over; it never runs twice."""
        line = self.connect(1, job_id=7)
        line.say(JobOver(7))
        runner = self.launcher.adopt(job_of(7, 1))
        assert runner is not None
        self.successResultOf(runner.run(job_of(7, 1), {}))
        self.assertEqual(line.heard(), [Leave()])
        self.assertNoResult(self.launcher.reserve())

    def test_adopt_finishes_while_away(self) -> None:
        """A process that comes back without its job has finished it."""
        self.liveness.start(Path(lock(1)))
        runner = self.launcher.adopt(job_of(7, 1))
        assert runner is not None
        over = runner.run(job_of(7, 1), {})
        self.connect(1)
        self.successResultOf(over)

    def test_adopt_the_dead(self) -> None:
        """The dead are not adopted, nor what never started."""
        self.assertIsNone(self.launcher.adopt(job_of(7, 1)))
        self.assertIsNone(self.launcher.adopt(QueuedJob(id=7, ops=[OP])))

    def test_adopted_dies(self) -> None:
        """An adopted process without a connection is watched by its livelock."""
        self.liveness.start(Path(lock(1)))
        runner = self.launcher.adopt(job_of(7, 1))
        assert runner is not None
        over = runner.run(job_of(7, 1), {})
        self.liveness.die(Path(lock(1)))
        self.clock.advance(LIVENESS_INTERVAL)
        self.failureResultOf(over, RunnerDied)

    def test_stop(self) -> None:
        """When luxid ends, the idle leave and the busy go on."""
        runner, idle = self.reserved()
        busy = self.launcher.reserve()
        working = self.connect(2)
        self.successResultOf(busy).run(job_of(7, 2), {})
        working.heard()
        self.launcher.give_back(runner)
        self.launcher.stop()
        self.assertEqual((idle.heard(), working.heard()), ([Leave()], []))
