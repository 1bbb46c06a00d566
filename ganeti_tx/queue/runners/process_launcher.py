"""Runners as processes: a zygote with the code imported forks them, luxid lends them to jobs, one job at a time."""

import signal
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from attrs import define, field
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.metrics.jobs import RUNNERS_DIED, RUNNERS_STARTED
from ganeti_tx.metrics.nodes import NODE_METRICS
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.queue.job import QueuedJob
from ganeti_tx.queue.launcher import IJobLauncher, IRunner, NeverGiven, RunnerCounts, RunnerDied
from ganeti_tx.queue.runners.runner_channel import (
    MAX_REPORT,
    Channel,
    GoOn,
    Hello,
    JobOver,
    Lagging,
    Leave,
    Measured,
    Message,
    RunJob,
    SetPriority,
    StepBack,
    StopJob,
    Stopping,
    TurnOver,
)
from ganeti_tx.queue.runners.runner_state import FOLLOWING, RunnerState
from ganeti_tx.runtime.lifecycle import Lifecycle
from ganeti_tx.runtime.livelock import ILiveness

log = Logger()

#: Seconds that a fork may take until the runner says hello.
HELLO_LIMIT = 30.0
#: Seconds that a job waits for any runner: on a machine that has just booted and is busy the zygote reads all the code first.
RUNNER_LIMIT = 180.0
#: Seconds from the death of a fork that never said hello to the next, which may have the same fault.
FORK_PAUSE = 0.2
#: Seconds after which a runner without work leaves, when more than KEPT_IDLE others have none either.
IDLE_LIMIT = 30.0
KEPT_IDLE = 2
#: Seconds between looks at the livelock of a process that luxid has no connection to.
LIVENESS_INTERVAL = 0.2


def _new() -> Lifecycle[RunnerState]:
    return Lifecycle(FOLLOWING, RunnerState.NEW)


@implementer(IRunner)
@define(eq=False)
class ProcessRunner:
    """One forked process, with or without a connection to it.

    @ivar inherited: a former luxid started it, perhaps from an older version of the program; it gets no further job.
    """

    livelock: str
    process_id: int
    launcher: "ProcessJobLauncher"
    channel: Channel | None = None
    job_id: int | None = None
    adopted: int | None = None
    over: "Deferred[None] | None" = None
    stopping: "list[Deferred[None]]" = field(factory=list)
    priority: int | None = None
    leaves_at: float = 0.0
    inherited: bool = False
    _lifecycle: Lifecycle[RunnerState] = field(factory=_new, init=False)

    @property
    def state(self) -> RunnerState:
        """What it is doing."""
        return self._lifecycle.state

    def enter(self, state: RunnerState) -> None:
        """It does something else now. @raise IllegalTransition: that cannot be."""
        self._lifecycle.enter(state)

    def run(self, job: QueuedJob, secrets: Mapping[int, Mapping[str, object]]) -> "Deferred[None]":
        """As IRunner says; an adopted job is only waited for, and may be over already."""
        adopted, self.adopted = job.id == self.adopted, None  # it may be lent for the same job once more
        if adopted and job.id != self.job_id:
            return succeed(None)
        if not adopted and self.state is RunnerState.GONE:
            return fail(NeverGiven("it was gone before it was given the job"))
        over = self.over = Deferred()
        if not adopted:
            self.enter(RunnerState.BUSY)
            self.job_id = job.id
            self.tell(RunJob(job, {index: dict(secret) for index, secret in secrets.items()}))
        if self.state is RunnerState.AWAY:
            self.launcher.watch(self)
        return over

    def cancel(self) -> "Deferred[None]":
        """As IRunner says."""
        noted: Deferred[None] = Deferred()
        self.stopping.append(noted)
        self.tell(StopJob())
        return noted

    def heard_of_stop(self) -> None:
        """The process has taken note that the job shall stop."""
        stopping, self.stopping = self.stopping, []
        for noted in stopping:
            noted.callback(None)

    def say_again(self) -> None:
        """It may have been away when it was told."""
        if self.priority is not None:
            self.tell(SetPriority(self.priority))
        if self.stopping:
            self.tell(StopJob())

    def kill(self) -> None:
        """End the process, if it is still the one that holds the livelock."""
        self.launcher.kill(self)

    def set_priority(self, priority: int) -> None:
        """Pass on the new priority."""
        self.priority = priority
        self.tell(SetPriority(priority))

    def tell(self, message: Message) -> None:
        """Say something to the process; into the void when there is no connection."""
        if self.channel is not None:
            self.channel.tell(message)

    def finish(self, error: RunnerDied | None = None) -> None:
        """Its job is over, one way or the other."""
        over, self.over, self.job_id, self.priority = self.over, None, None, None
        if over is None:
            return
        if error is None:
            over.callback(None)
        else:
            over.errback(Failure(error))
        self.heard_of_stop()


@implementer(IJobLauncher)
@define
class ProcessJobLauncher:
    """Lends runners; `fork` asks the zygote for one more, which then connects by itself."""

    clock: IReactorTime
    liveness: ILiveness
    fork: Callable[[], None]
    send_signal: Callable[[int, int], None]
    may_go_on: Callable[[int, int], bool] = lambda job_id, priority: True
    tally: Tally = field(factory=Tally)
    _idle: list[ProcessRunner] = field(factory=list)
    _wanted: "list[Deferred[IRunner]]" = field(factory=list)
    _known: dict[str, ProcessRunner] = field(factory=dict)
    _forking: list[IDelayedCall] = field(factory=list)
    _greeted: set[int] = field(factory=set)
    _lagging: list[str] = field(factory=list)

    # IJobLauncher

    def reserve(self) -> "Deferred[IRunner]":
        """As IJobLauncher says."""
        wanted: Deferred[IRunner] = Deferred(canceller=self._unwant)
        if self._idle:
            runner = self._idle.pop()
            runner.enter(RunnerState.RESERVED)
            wanted.callback(runner)
            return wanted
        self._wanted.append(wanted)
        self._fork_what_lacks()
        limit = self.clock.callLater(RUNNER_LIMIT, self._too_late, wanted)

        def disarm(result: IRunner | Failure) -> IRunner | Failure:
            if limit.active():
                limit.cancel()
            return result

        return wanted.addBoth(disarm)

    def _fork_what_lacks(self) -> None:
        """One fork under way for each who waits; a fork from which nothing is heard in time counts no more."""
        while len(self._forking) < len(self._wanted):
            self._forking.append(self.clock.callLater(HELLO_LIMIT, self._fork_lost))
            self.fork()

    def _fork_lost(self) -> None:
        del self._forking[0]
        self._fork_what_lacks()

    def give_back(self, runner: IRunner) -> None:
        """As IJobLauncher says."""
        if isinstance(runner, ProcessRunner) and runner.state is RunnerState.RESERVED:
            self._lend_or_keep(runner)

    def counts(self) -> RunnerCounts:
        """As IJobLauncher says."""
        idle = len(self._idle)
        return RunnerCounts(busy=len(self._known) - idle, idle=idle, starting=len(self._forking))

    def tell_lagging(self, names: Collection[str]) -> None:
        """As IJobLauncher says."""
        self._lagging = sorted(names)
        for runner in self._known.values():
            runner.tell(Lagging(self._lagging))

    def adopt(self, job: QueuedJob) -> IRunner | None:
        """As IJobLauncher says."""
        if job.livelock is None or job.process_id is None or not self._lives(job.livelock):
            return None
        runner = self._known.get(job.livelock)
        if runner is None:
            runner = self._known[job.livelock] = ProcessRunner(job.livelock, job.process_id, self, job_id=job.id)
            runner.enter(RunnerState.AWAY)
            runner.inherited = True
        runner.adopted = job.id
        return runner

    # What the zygote and the runners make happen

    def welcome(self, channel: Channel) -> None:
        """A runner connected; it says who it is first, and soon."""
        channel.MAX_LENGTH = MAX_REPORT
        silence = self.clock.callLater(HELLO_LIMIT, channel.hang_up)

        def heard() -> None:
            if silence.active():
                silence.cancel()

        channel.lost = heard

        def hello(message: Message) -> None:
            heard()
            channel.lost = lambda: None
            if isinstance(message, Hello):
                self._greet(channel, message)
            else:
                channel.hang_up()

        channel.receive = hello

    def _greet(self, channel: Channel, hello: Hello) -> None:
        runner = self._known.get(hello.livelock)
        if runner is None:
            runner = self._known[hello.livelock] = ProcessRunner(hello.livelock, hello.process_id, self)
            self._greeted.add(hello.process_id)
            runner.inherited = hello.job_id is not None
            if hello.job_id is None:
                self.tally.count(RUNNERS_STARTED)
            if hello.job_id is None and self._forking:
                self._forking.pop(0).cancel()
        runner.channel = channel
        channel.receive = lambda message: self._received(runner, message)
        channel.lost = lambda: self._disconnected(runner, channel)
        if self._lagging:
            runner.tell(Lagging(self._lagging))
        if hello.job_id is not None:
            if runner.state is not RunnerState.BUSY:
                runner.enter(RunnerState.BUSY)
            runner.job_id = hello.job_id
            runner.say_again()
        elif runner.state in {RunnerState.NEW, RunnerState.BUSY, RunnerState.AWAY}:
            runner.finish()
            self._lend_or_keep(runner)
        elif runner.state is RunnerState.LEAVING:
            runner.tell(Leave())

    def _received(self, runner: ProcessRunner, message: Message) -> None:
        if isinstance(message, JobOver) and message.job_id == runner.job_id:
            runner.finish()
            self._lend_or_keep(runner)
        elif isinstance(message, Measured):
            self.tally.add(message.readings, NODE_METRICS)
        elif isinstance(message, Stopping) and message.job_id == runner.job_id:
            runner.heard_of_stop()
        elif isinstance(message, TurnOver) and message.job_id == runner.job_id:
            runner.tell(GoOn() if self.may_go_on(message.job_id, message.priority) else StepBack())

    def _lend_or_keep(self, runner: ProcessRunner) -> None:
        runner.enter(RunnerState.IDLE)
        if runner.inherited:
            self._retire(runner)
        elif self._wanted:
            runner.enter(RunnerState.RESERVED)
            self._wanted.pop(0).callback(runner)
        else:
            runner.leaves_at = self.clock.seconds() + IDLE_LIMIT
            self._idle.append(runner)
            self.clock.callLater(IDLE_LIMIT, self._shrink)

    def _shrink(self) -> None:
        """Send away who had nothing to do all the time; the first of the idle ones has waited longest."""
        while len(self._idle) > KEPT_IDLE and self._idle[0].leaves_at <= self.clock.seconds():
            self._retire(self._idle.pop(0))

    def _retire(self, runner: ProcessRunner) -> None:
        runner.enter(RunnerState.LEAVING)
        runner.tell(Leave())

    def _disconnected(self, runner: ProcessRunner, channel: Channel) -> None:
        if runner.channel is not channel:
            return
        runner.channel = None
        if runner.state is RunnerState.IDLE:
            self._idle.remove(runner)
        if runner.over is None:
            runner.enter(RunnerState.GONE)
            self._known.pop(runner.livelock, None)
        else:
            runner.enter(RunnerState.AWAY)
            self.watch(runner)

    def watch(self, runner: ProcessRunner) -> None:
        """Look after a busy process without a connection until it is back or dead."""
        if runner.state is not RunnerState.AWAY:
            return
        if self._lives(runner.livelock):
            self.clock.callLater(LIVENESS_INTERVAL, self.watch, runner)
            return
        runner.enter(RunnerState.GONE)
        self._known.pop(runner.livelock, None)
        self.tally.count(RUNNERS_DIED)
        runner.finish(RunnerDied("its livelock is free"))

    def kill(self, runner: ProcessRunner) -> None:
        """Send SIGKILL to the process that holds the livelock; a process id alone may be somebody else's by now."""
        if self._lives(runner.livelock):
            try:
                self.send_signal(runner.process_id, signal.SIGKILL)
            except ProcessLookupError:
                return

    def _lives(self, livelock: str) -> bool:
        """Whether it is held; what cannot be told is taken for life, and looked at again."""
        try:
            return self.liveness.is_alive(Path(livelock))
        except OSError as error:
            log.warn("cannot tell whether the process of {livelock} lives: {error}", livelock=livelock, error=error)
            return True

    def runner_ended(self, process_id: int, status: int) -> None:
        """The zygote says that a child of its ended; one that never said hello is replaced."""
        if process_id in self._greeted:
            self._greeted.remove(process_id)
        elif self._forking:
            log.warn("runner {pid} ended with {status} before it said hello", pid=process_id, status=status)
            self._forking.pop(0).cancel()
            self.clock.callLater(FORK_PAUSE, self._fork_what_lacks)

    def zygote_died(self) -> None:
        """Nobody forks any more what was asked for; ask again of the next zygote."""
        self._greeted.clear()
        while self._forking:
            self._forking.pop().cancel()
        self._fork_what_lacks()

    def stop(self) -> None:
        """Send the idle ones away; the busy go on without us."""
        while self._idle:
            self._retire(self._idle.pop())

    def _unwant(self, wanted: "Deferred[IRunner]") -> None:
        if wanted in self._wanted:
            self._wanted.remove(wanted)

    def _too_late(self, wanted: "Deferred[IRunner]") -> None:
        if wanted in self._wanted:
            self._wanted.remove(wanted)
            wanted.errback(Failure(RunnerDied(f"no runner answered within {RUNNER_LIMIT:.0f} s; see luxid's log")))
