"""Runners as luxid gets them: asked for, forked, connected, lent and given up."""

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.queue.launcher import RunnerDied
from ganeti_tx.queue.runners.process_launcher import (
    FORK_PAUSE,
    HELLO_LIMIT,
    IDLE_LIMIT,
    RUNNER_LIMIT,
    ProcessJobLauncher,
)
from ganeti_tx.queue.runners.runner_channel import (
    MAX_REPORT,
    JobOver,
    Leave,
    RunJob,
)
from ganeti_tx.runtime.lifecycle import IllegalTransition
from ganeti_tx.test.fakes.livelock import FakeLiveness
from ganeti_tx.test.queue.runners.launcher_case import LauncherCase, Line, job_of, lock


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


class LauncherTests(LauncherCase):
    """Getting a runner, and letting it go."""

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
