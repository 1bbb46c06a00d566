"""Runners as luxid sees them: asked for, connected, lent, lost and found again."""

import signal
from pathlib import Path

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.queue.job import QueuedJob, QueuedOp
from ganeti_tx.queue.launcher import IRunner, NeverGiven, RunnerDied
from ganeti_tx.queue.runners.process_launcher import (
    FORK_PAUSE,
    HELLO_LIMIT,
    IDLE_LIMIT,
    LIVENESS_INTERVAL,
    RUNNER_LIMIT,
    ProcessJobLauncher,
)
from ganeti_tx.queue.runners.runner_channel import (
    MAX_REPORT,
    Channel,
    ChannelFactory,
    GoOn,
    Hello,
    JobOver,
    Lagging,
    Leave,
    Message,
    RunJob,
    SetPriority,
    StepBack,
    StopJob,
    Stopping,
    TurnOver,
)
from ganeti_tx.runtime.lifecycle import IllegalTransition
from ganeti_tx.test.fakes.livelock import FakeLiveness

OP = QueuedOp(input={"OP_ID": "OP_TEST_DELAY"})


def lock(number: int) -> str:
    """The livelock of a process."""
    return f"/livelocks/job_{number}"


def job_of(job_id: int, number: int) -> QueuedJob:
    """A job whose file names a process."""
    return QueuedJob(id=job_id, ops=[OP], livelock=lock(number), process_id=number)


class Line:
    """The runner's end of a connection."""

    def __init__(self, launcher: ProcessJobLauncher) -> None:
        channel = ChannelFactory(launcher.welcome).buildProtocol(None)
        assert isinstance(channel, Channel)
        self.channel = channel
        self.transport = StringTransport()
        channel.makeConnection(self.transport)

    def say(self, message: Message) -> None:
        """Something arrives at luxid."""
        data = msgspec.json.encode(message)
        self.channel.dataReceived(len(data).to_bytes(4, "big") + data)

    def heard(self) -> list[Message]:
        """What luxid said since the last time."""
        data, found = self.transport.value(), []
        self.transport.clear()
        while data:
            length = int.from_bytes(data[:4], "big")
            found.append(msgspec.json.decode(data[4 : 4 + length], type=Message))
            data = data[4 + length :]
        return found

    def break_off(self) -> None:
        """The connection is gone."""
        self.channel.connectionLost()


class NoRunnerTests(SynchronousTestCase):
    """Whoever connects to luxid's runner socket and is no runner."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.launcher = ProcessJobLauncher(self.clock, FakeLiveness(), lambda: None, lambda process, number: None)
        self.line = Line(self.launcher)

    def test_silence(self) -> None:
        """Who does not say hello soon is hung up on; who hangs up himself leaves no timer behind."""
        self.clock.advance(HELLO_LIMIT - 1)
        self.assertFalse(self.line.transport.disconnected)
        self.clock.advance(1)
        self.assertTrue(self.line.transport.disconnected)
        self.line.break_off()
        Line(self.launcher).break_off()
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_announced_length(self) -> None:
        """A message longer than a runner has anything to say is not waited for."""
        self.line.channel.dataReceived((MAX_REPORT + 1).to_bytes(4, "big"))
        self.assertTrue(self.line.transport.disconnected)

    def test_junk(self) -> None:
        """What is no message ends the connection, not the daemon."""
        for junk in (b"x", b"[" * 50_000, b'{"type": "Hello", "livelock": "\xff", "process_id": 1}', b"\x00" * 100):
            line = Line(self.launcher)
            line.channel.dataReceived(len(junk).to_bytes(4, "big") + junk)
            self.assertTrue(line.transport.disconnected, junk[:10])


class LauncherTests(SynchronousTestCase):
    """ProcessJobLauncher with connections and processes that are only simulated."""

    def setUp(self) -> None:
        """A launcher that nobody has asked for anything."""
        self.clock = Clock()
        self.liveness = FakeLiveness()
        self.forks = 0
        self.signals: list[tuple[int, int]] = []
        self.launcher = ProcessJobLauncher(
            self.clock, self.liveness, self.count_fork, lambda *sent: self.signals.append(sent)
        )

    def count_fork(self) -> None:
        """The zygote is asked."""
        self.forks += 1

    def connect(self, number: int, job_id: int | None = None) -> Line:
        """A living process says hello."""
        self.liveness.start(Path(lock(number)))
        line = Line(self.launcher)
        line.say(Hello(lock(number), number, job_id))
        return line

    def reserved(self) -> tuple[IRunner, Line]:
        """A runner lent to us, and its process's end."""
        wanted = self.launcher.reserve()
        line = self.connect(self.forks)
        return self.successResultOf(wanted), line

    def running(self, job_id: int = 7) -> "tuple[IRunner, Line, Deferred[None]]":
        """The same with a job."""
        runner, line = self.reserved()
        over = runner.run(job_of(job_id, runner.process_id), {0: {"password": "x"}})
        return runner, line, over

    # Getting a runner

    def test_fork_and_hello(self) -> None:
        """Who waits gets the process that was forked for him; nobody waits for an idle one."""
        runner, _line = self.reserved()
        self.assertEqual((runner.livelock, runner.process_id, self.forks), (lock(1), 1, 1))
        self.launcher.give_back(runner)
        self.assertIs(self.successResultOf(self.launcher.reserve()), runner)
        self.assertEqual(self.forks, 1)

    def test_silent_fork(self) -> None:
        """For a process that never says hello another is forked; if none does, that is an error after a time."""
        wanted = self.launcher.reserve()
        for _ in range(int(RUNNER_LIMIT / HELLO_LIMIT)):
            self.assertNoResult(wanted)
            self.clock.advance(HELLO_LIMIT)
        self.assertIn("no runner answered", str(self.failureResultOf(wanted, RunnerDied).value))
        self.assertEqual(self.forks, RUNNER_LIMIT / HELLO_LIMIT)

    def test_slow_zygote(self) -> None:
        """A job that waits longer than a fork may take gets the first process that says hello."""
        wanted = self.launcher.reserve()
        self.clock.advance(HELLO_LIMIT)
        self.clock.advance(HELLO_LIMIT)
        self.connect(1)
        self.successResultOf(wanted)

    def test_lost_fork_is_not_counted_for_ever(self) -> None:
        """A fork that died while another runner served the one who waited does not keep later ones waiting."""
        runner, _ = self.reserved()
        served = self.launcher.reserve()
        self.launcher.give_back(runner)
        self.assertIs(self.successResultOf(served), runner)
        self.clock.advance(HELLO_LIMIT)
        wanted = self.launcher.reserve()
        self.assertEqual(self.forks, 3)
        self.connect(3)
        self.successResultOf(wanted)

    def test_lost_fork_is_replaced_for_a_late_comer(self) -> None:
        """Who counted on a fork asked for earlier gets one of his own when that one is given up."""
        runner, _ = self.reserved()
        self.launcher.reserve()
        self.launcher.give_back(runner)
        self.clock.advance(HELLO_LIMIT - 1)
        late = self.launcher.reserve()
        self.assertEqual(self.forks, 2)
        self.clock.advance(1)
        self.assertEqual(self.forks, 3)
        self.connect(3)
        self.successResultOf(late)

    def test_given_up(self) -> None:
        """Who cancels is not served, and the runner stays for others."""
        wanted = self.launcher.reserve()
        wanted.addErrback(lambda _: None)
        wanted.cancel()
        self.connect(1)
        self.assertEqual(self.successResultOf(self.launcher.reserve()).process_id, 1)

    def test_zygote_died(self) -> None:
        """Forks that were lost with the zygote are asked for again."""
        wanted = [self.launcher.reserve(), self.launcher.reserve()]
        self.launcher.zygote_died()
        self.assertEqual(self.forks, 4)
        self.connect(3)
        self.connect(4)
        self.assertEqual([self.successResultOf(each).process_id for each in wanted], [3, 4])

    def test_fork_ended(self) -> None:
        """A fork that ends without a hello is replaced after a moment; the end of one that said hello is no fork's."""
        wanted = self.launcher.reserve()
        self.launcher.runner_ended(1, -9)
        self.assertEqual(self.forks, 1)
        self.clock.advance(FORK_PAUSE)
        self.assertEqual(self.forks, 2)
        self.connect(2)
        self.successResultOf(wanted)
        self.launcher.reserve()
        self.launcher.runner_ended(2, -9)
        self.clock.advance(FORK_PAUSE)
        self.assertEqual(self.forks, 3)

    def test_forks_keep_ending(self) -> None:
        """When every fork ends at once there are few of them, and who waits hears of it in the end."""
        wanted = self.launcher.reserve()
        while not wanted.called:
            self.launcher.runner_ended(self.forks, 1)
            self.clock.advance(FORK_PAUSE)
        self.failureResultOf(wanted, RunnerDied)
        self.assertLessEqual(self.forks, RUNNER_LIMIT / FORK_PAUSE + 1)

    def test_no_hello(self) -> None:
        """Who does not begin with hello, or sends junk, is cut off."""
        line = Line(self.launcher)
        line.say(JobOver(1))
        self.assertTrue(line.transport.disconnected)
        junk = Line(self.launcher)
        junk.channel.dataReceived(b"\0\0\0\2{}")
        self.assertTrue(junk.transport.disconnected)

    def test_hello_again(self) -> None:
        """A runner that is somebody's is lent to nobody else when it connects anew; what is said goes over the new line."""
        wanted = self.launcher.reserve()
        self.connect(1)
        runner = self.successResultOf(wanted)
        another = self.launcher.reserve()
        line = self.connect(1)
        self.assertNoResult(another)
        runner.run(job_of(7, 1), {})
        self.assertEqual(line.heard(), [RunJob(job_of(7, 1), {})])

    def test_given_to_who_has_it_only(self) -> None:
        """A runner that nobody reserved takes no job."""
        wanted = self.launcher.reserve()
        self.connect(1)
        runner = self.successResultOf(wanted)
        self.launcher.give_back(runner)
        self.assertRaises(IllegalTransition, runner.run, job_of(7, 1), {})

    def test_leaving(self) -> None:
        """One that was told to end is told so again when it comes back, and lent to nobody."""
        wanted = self.launcher.reserve()
        self.connect(1)
        self.launcher.give_back(self.successResultOf(wanted))
        self.launcher.stop()
        self.assertEqual(self.connect(1).heard(), [Leave()])
        self.assertNoResult(self.launcher.reserve())

    def test_shrink(self) -> None:
        """After a while without work all but two are sent away."""
        wanted = [self.launcher.reserve() for _ in range(4)]
        lines = [self.connect(number) for number in range(1, 5)]
        for each in wanted:
            self.launcher.give_back(self.successResultOf(each))
        self.clock.advance(IDLE_LIMIT)
        self.assertEqual([line.heard() for line in lines], [[Leave()], [Leave()], [], []])

    def test_busy_pool(self) -> None:
        """Who has only just been given back stays, whenever others were."""
        wanted = [self.launcher.reserve() for _ in range(4)]
        lines = [self.connect(number) for number in range(1, 5)]
        runners = [self.successResultOf(each) for each in wanted]
        for each in runners:
            self.launcher.give_back(each)
        self.clock.advance(IDLE_LIMIT - 1)
        for each in [self.successResultOf(self.launcher.reserve()) for _ in runners]:
            self.launcher.give_back(each)
        self.clock.advance(1)
        self.assertEqual([line.heard() for line in lines], [[], [], [], []])
        self.clock.advance(IDLE_LIMIT - 1)
        self.assertEqual(sum(line.heard() == [Leave()] for line in lines), 2)

    # A job

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

    # After a restart of luxid

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
