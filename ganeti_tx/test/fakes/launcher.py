"""Runners without processes: a test says when they are ready, done or dead."""

from collections.abc import Callable, Collection, Mapping

from attrs import define, field
from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.metrics.tally import Tally
from ganeti_tx.queue.job import QueuedJob
from ganeti_tx.queue.launcher import IJobLauncher, IRunner, RunnerCounts, RunnerDied


@implementer(IRunner)
@define(eq=False)
class FakeRunner:
    """Remembers what it was asked."""

    livelock: str
    process_id: int
    job: QueuedJob | None = None
    secrets: Mapping[int, Mapping[str, object]] = field(factory=dict)
    canceled: bool = False
    killed: bool = False
    priority: int | None = None
    deaf: bool = False
    immortal: bool = False
    noted: "Deferred[None]" = field(factory=Deferred)
    over: "Deferred[None]" = field(factory=Deferred)

    def run(self, job: QueuedJob, secrets: Mapping[int, Mapping[str, object]]) -> "Deferred[None]":
        """As IRunner says; `over` is the test's to fire."""
        self.job, self.secrets, self.over = job, secrets, Deferred()
        return self.over

    def cancel(self) -> "Deferred[None]":
        """Remember; a deaf one takes no note before the test says so."""
        self.canceled = True
        return self.noted if self.deaf else succeed(None)

    def kill(self) -> None:
        """Remember, and die unless it is immortal."""
        self.killed = True
        if self.immortal:
            return
        self.over.errback(Failure(RunnerDied("killed")))

    def set_priority(self, priority: int) -> None:
        """Remember."""
        self.priority = priority


@implementer(IJobLauncher)
@define
class FakeLauncher:
    """Has a runner ready at once, unless `holding`: then the test calls `release`."""

    may_go_on: Callable[[int, int], bool] = lambda job_id, priority: True
    tally: Tally = field(factory=Tally)
    holding: bool = False
    living: set[str] = field(factory=set)
    runners: list[FakeRunner] = field(factory=list)
    returned: list[IRunner] = field(factory=list)
    lagging: list[str] = field(factory=list)
    _waiting: "list[Deferred[IRunner]]" = field(factory=list)

    def reserve(self) -> "Deferred[IRunner]":
        """As IJobLauncher says."""
        wanted: Deferred[IRunner] = Deferred()
        self._waiting.append(wanted)
        if not self.holding:
            self.release()
        return wanted

    def release(self) -> None:
        """Give a runner to the first who waits still."""
        self._waiting = [each for each in self._waiting if not each.called]
        number = len(self.runners) + 1
        runner = FakeRunner(f"/run/livelocks/job_{number}", 1000 + number)
        self.runners.append(runner)
        self._waiting.pop(0).callback(runner)

    def refuse(self, reason: str) -> None:
        """Let the first who waits hear that no process could be had."""
        self._waiting.pop(0).errback(Failure(RunnerDied(reason)))

    def give_back(self, runner: IRunner) -> None:
        """Remember."""
        self.returned.append(runner)

    def counts(self) -> RunnerCounts:
        """Those that were lent."""
        return RunnerCounts(busy=len(self.runners))

    def tell_lagging(self, names: Collection[str]) -> None:
        """Remember."""
        self.lagging = sorted(names)

    def adopt(self, job: QueuedJob) -> IRunner | None:
        """A runner for a job whose livelock the test named as living."""
        if job.livelock not in self.living:
            return None
        assert job.livelock is not None and job.process_id is not None
        runner = FakeRunner(job.livelock, job.process_id)
        self.runners.append(runner)
        return runner
