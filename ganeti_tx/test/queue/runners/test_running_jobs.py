"""Jobs in their runners as luxid sees them: told, stopped, lost and killed."""

import signal
from pathlib import Path

from ganeti_tx.queue.launcher import NeverGiven, RunnerDied
from ganeti_tx.queue.runners.process_launcher import (
    LIVENESS_INTERVAL,
)
from ganeti_tx.queue.runners.runner_channel import (
    GoOn,
    JobOver,
    Lagging,
    RunJob,
    SetPriority,
    StepBack,
    StopJob,
    Stopping,
    TurnOver,
)
from ganeti_tx.test.queue.runners.launcher_case import LauncherCase, job_of, lock


class RunningJobTests(LauncherCase):
    """A runner with a job."""

    def test_job(self) -> None:
        """The job with its secrets goes out; JobOver ends it, and the runner serves the next."""
        runner, line, over = self.running()
        self.assertEqual(line.heard(), [RunJob(job_of(7, 1), {0: {"password": "x"}})])
        runner.cancel()
        runner.set_priority(-5)
        self.assertEqual(line.heard(), [StopJob(), SetPriority(-5)])
        line.say(JobOver(8))
        self.assertNoResult(over)
        line.say(JobOver(7))
        self.successResultOf(over)
        self.assertIs(self.successResultOf(self.launcher.reserve()), runner)

    def test_stop_is_noted(self) -> None:
        """A cancel is answered when the process has taken note, and of this job only."""
        runner, line, _over = self.running()
        asked = [runner.cancel(), runner.cancel()]
        line.say(Stopping(8))
        self.assertNoResult(asked[0])
        line.say(Stopping(7))
        for each in asked:
            self.successResultOf(each)

    def test_stop_comes_too_late(self) -> None:
        """When the job is over, or its process dead, before it took note, the cancel is answered too: the file tells."""
        runner, line, _over = self.running()
        asked = runner.cancel()
        line.say(JobOver(7))
        self.successResultOf(asked)
        self.assertIs(self.successResultOf(self.launcher.reserve()), runner)
        runner.run(job_of(9, 1), {}).addErrback(lambda _: None)
        asked = runner.cancel()
        self.liveness.die(Path(lock(1)))
        line.break_off()
        self.successResultOf(asked)

    def test_said_again(self) -> None:
        """What a busy process was told while it had no connection it is told when it is back."""
        runner, line, over = self.running()
        over.addErrback(lambda _: None)
        line.break_off()
        runner.cancel()
        runner.set_priority(-5)
        self.assertEqual(self.connect(1, job_id=7).heard(), [SetPriority(-5), StopJob()])

    def test_lagging(self) -> None:
        """Every process hears whom nobody waits for, at once, and one that comes later before anything else."""
        _runner, line, _over = self.running()
        line.heard()
        self.launcher.tell_lagging({"node3", "node2"})
        self.assertEqual(line.heard(), [Lagging(["node2", "node3"])])
        _runner, later, _over = self.running(8)
        self.assertEqual([type(message) for message in later.heard()], [Lagging, RunJob])
        self.launcher.tell_lagging(set())
        self.assertEqual(line.heard() + later.heard(), [Lagging([])] * 2)

    def test_turn(self) -> None:
        """Whether a job keeps its slot is what the queue says; somebody else's job is not asked about."""
        asked: list[tuple[int, int]] = []
        answers = [True, False]

        def may_go_on(job_id: int, priority: int) -> bool:
            asked.append((job_id, priority))
            return answers.pop(0)

        self.launcher.may_go_on = may_go_on
        _runner, line, _over = self.running()
        line.heard()
        for message in (TurnOver(7, 5), TurnOver(8, 5), TurnOver(7, -3)):
            line.say(message)
        self.assertEqual(line.heard(), [GoOn(), StepBack()])
        self.assertEqual(asked, [(7, 5), (7, -3)])

    def test_secrets_stay_out_of_the_log(self) -> None:
        """The order to run a job does not show its secrets."""
        self.assertEqual(repr(RunJob(job_of(7, 1), {0: {"password": "x"}})), "<RunJob 7>")

    def test_death(self) -> None:
        """A process whose connection and livelock are gone has died."""
        _, line, over = self.running()
        self.liveness.die(Path(lock(1)))
        line.break_off()
        self.failureResultOf(over, RunnerDied)

    def test_death_between_lending_and_start(self) -> None:
        """A runner that died after it was lent says so instead of running the job."""
        runner, line = self.reserved()
        self.liveness.die(Path(lock(1)))
        line.break_off()
        self.failureResultOf(runner.run(job_of(7, 1), {}), NeverGiven)

    def test_death_while_idle(self) -> None:
        """An idle runner that died is lent to nobody."""
        runner, line = self.reserved()
        self.launcher.give_back(runner)
        line.break_off()
        self.assertNoResult(self.launcher.reserve())
        self.assertEqual(self.forks, 2)

    def test_line_breaks_but_process_lives(self) -> None:
        """A busy process without a connection is waited for; when it is back its word counts."""
        _, line, over = self.running()
        line.break_off()
        self.clock.advance(LIVENESS_INTERVAL)
        self.assertNoResult(over)
        self.connect(1, job_id=7).say(JobOver(7))
        self.successResultOf(over)

    def test_back_without_the_job(self) -> None:
        """A process that comes back idle has finished its job."""
        _, line, over = self.running()
        line.break_off()
        self.connect(1)
        self.successResultOf(over)

    def test_old_line_closes_late(self) -> None:
        """The end of an old connection does not touch the new one."""
        runner, line, _over = self.running()
        back = self.connect(1, job_id=7)
        line.break_off()
        runner.cancel()
        self.assertEqual(back.heard(), [StopJob()])

    def test_question_about_life_fails(self) -> None:
        """While nobody can tell whether a process lives it is not given up, and it is asked about again."""
        _, line, over = self.running()
        alive, self.liveness.is_alive = self.liveness.is_alive, self.refuse  # type: ignore[method-assign]
        line.break_off()
        self.clock.advance(LIVENESS_INTERVAL)
        self.assertNoResult(over)
        self.liveness.is_alive = alive  # type: ignore[method-assign]
        self.liveness.die(Path(lock(1)))
        self.clock.advance(LIVENESS_INTERVAL)
        self.failureResultOf(over, RunnerDied)

    def refuse(self, path: Path) -> bool:
        """The system has no descriptor left."""
        raise OSError(24, "Too many open files", str(path))

    def test_kill(self) -> None:
        """Only a process that holds its livelock is killed: a number alone may be somebody else's by now."""
        runner, _line, _over = self.running()
        runner.kill()
        self.assertEqual(self.signals, [(1, signal.SIGKILL)])
        self.liveness.die(Path(lock(1)))
        runner.kill()
        self.assertEqual(len(self.signals), 1)

    def test_kill_too_late(self) -> None:
        """A process that ends in the very moment needs no signal."""
        runner, _, over = self.running()

        def gone(process: int, number: int) -> None:
            raise ProcessLookupError(3, "No such process")

        self.launcher.send_signal = gone
        runner.kill()
        self.assertNoResult(over)
