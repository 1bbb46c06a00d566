"""One job on its way through luxid and a process, as a table of states."""

from collections.abc import Mapping
from enum import Enum, IntEnum, auto

from attrs import define, field
from twisted.internet.defer import Deferred

from ganeti_tx.queue.job import QueuedJob, has_priority, with_priority
from ganeti_tx.queue.launcher import IRunner, NeverGiven, RunnerDied
from ganeti_tx.runtime.lifecycle import Lifecycle


class Stage(Enum):
    """Who is busy with a job."""

    CLAIMED = "luxid, which writes its file"
    RESERVING = "nobody yet: it waits for a process"
    HANDING_OVER = "luxid, which writes the process's name into its file"
    RUNNING = "a process"
    SETTLING = "luxid, which writes what became of it"
    INTERRUPTED = "nobody: what its dead process had begun waits to be taken back"
    RELEASED = "nobody any more"


FOLLOWING: Mapping[Stage, frozenset[Stage]] = {
    Stage.CLAIMED: frozenset({Stage.RESERVING, Stage.RUNNING, Stage.SETTLING, Stage.INTERRUPTED, Stage.RELEASED}),
    Stage.RESERVING: frozenset({Stage.HANDING_OVER, Stage.SETTLING}),
    Stage.HANDING_OVER: frozenset({Stage.RUNNING, Stage.SETTLING}),
    Stage.RUNNING: frozenset({Stage.SETTLING}),
    Stage.SETTLING: frozenset({Stage.INTERRUPTED, Stage.RELEASED}),
    Stage.INTERRUPTED: frozenset({Stage.RESERVING, Stage.SETTLING}),
    Stage.RELEASED: frozenset(),
}


class Wish(IntEnum):
    """What users have asked for; what is stronger stays."""

    GO_ON = auto()
    CANCEL = auto()
    KILL = auto()


def _claimed() -> Lifecycle[Stage]:
    return Lifecycle(FOLLOWING, Stage.CLAIMED)


@define(eq=False)
class Run:
    """A job that has been handed to a process, or whose file luxid itself is just writing.

    @ivar reservation: fires with the process that it waits for; while RESERVING only.
    @ivar runner: the process that has it; while RUNNING only, since before it cannot be told to stop the job, and after
        it is dead or may have the next one, which nobody wants to stop.
    @ivar adopted: an earlier luxid gave it to the process.
    @ivar undoing: it is there only to take back what was begun.
    @ivar priority: what was asked for while a process had it.
    """

    job_id: int
    adopted: bool = False
    wish: Wish = Wish.GO_ON
    priority: int | None = None
    undoing: bool = field(default=False, init=False)
    reservation: "Deferred[IRunner] | None" = field(default=None, init=False)
    runner: IRunner | None = field(default=None, init=False)
    _lifecycle: Lifecycle[Stage] = field(factory=_claimed, init=False)

    @property
    def stage(self) -> Stage:
        """Where it is."""
        return self._lifecycle.state

    @property
    def canceled(self) -> bool:
        """Whether it shall stop, by force or not."""
        return self.wish is not Wish.GO_ON

    def ask(self, wish: Wish) -> None:
        """A user wants something of it."""
        self.wish = max(self.wish, wish)

    def reserve(self, reservation: "Deferred[IRunner]") -> None:
        """It waits for a process."""
        self._enter(Stage.RESERVING)
        self.reservation = reservation

    def hand_over(self) -> None:
        """The process is there, the job's file is about to say so."""
        self._enter(Stage.HANDING_OVER)

    def give_to(self, runner: IRunner) -> None:
        """The process has it."""
        self._enter(Stage.RUNNING)
        self.runner = runner

    def settle(self) -> None:
        """Only luxid is busy with it, until its file says what became of it; said again of one of which it is true."""
        if self.stage is not Stage.SETTLING:
            self._enter(Stage.SETTLING)

    def interrupt(self) -> None:
        """A fresh process is to take back what a dead one has begun; the job cannot be canceled any more."""
        self._enter(Stage.INTERRUPTED)
        self.undoing = True

    def release(self) -> None:
        """Nobody is busy with it any more."""
        self._enter(Stage.RELEASED)

    def with_asked_priority(self, job: QueuedJob) -> QueuedJob:
        """The job with the priority that was asked for while a process had it, as the process might not have heard of it."""
        if self.priority is None or has_priority(job, self.priority):
            return job
        return with_priority(job, self.priority)

    def never_had_it(self, died: RunnerDied | None) -> bool:
        """Whether a process may have ended, or come back idle, without ever having been given the job."""
        return died is None or isinstance(died, NeverGiven) or (self.adopted and not self.canceled)

    def _enter(self, stage: Stage) -> None:
        self._lifecycle.enter(stage)
        self.reservation = self.runner = None


def death_of(job: QueuedJob, died: RunnerDied | None) -> str:
    """What is told of a job's process that has left it unfinished."""
    reason = died or "it ended without finishing the job"
    return f"the process {job.process_id} of job {job.id} ({job.livelock}) died: {reason}"
