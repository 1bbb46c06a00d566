"""The seam between the queue and the processes that run its jobs."""

from collections.abc import Callable, Collection, Mapping

from attrs import frozen
from twisted.internet.defer import Deferred
from zope.interface import Attribute, Interface

from ganeti_tx.metrics.tally import Tally
from ganeti_tx.queue.job import QueuedJob


class RunnerDied(Exception):
    """The process of a job ended before the job did."""


class NeverGiven(RunnerDied):
    """The process was gone before it could be given the job, of which it knows nothing."""


@frozen(kw_only=True)
class RunnerCounts:
    """How many runners there are."""

    busy: int = 0
    idle: int = 0
    starting: int = 0


class IRunner(Interface):
    """One process that runs one job at a time and holds its livelock while it lives."""

    livelock: str = Attribute("The path of its livelock.")
    process_id: int = Attribute("Its process id.")

    def run(job: QueuedJob, secrets: Mapping[int, Mapping[str, object]]) -> "Deferred[None]":
        """Start a job whose file names this runner's livelock (daemons.txt, Job execution).

        Fires when the runner has done with the job: its file holds its end, or has it queued again without a livelock,
        after `may_go_on` was false. Fails with RunnerDied when the process ended first.

        @param secrets: secret parameters by opcode index, which no file holds.
        """

    def cancel() -> "Deferred[None]":
        """Ask the running job to stop at its next safe point; asked again when the process is back after an absence.

        Fires when the process has taken note, or has done with the job, or is dead; what it then is, its file says.
        """

    def kill() -> None:
        """End the process now; the Deferred of `run` then fails."""

    def set_priority(priority: int) -> None:
        """Tell the running job's waiting opcodes their new priority."""


class IJobLauncher(Interface):
    """Where runners come from."""

    may_go_on: Callable[[int, int], bool] = Attribute(
        "Set by the queue: whether a job, by its id, keeps its slot although it is between opcodes or did not get its locks; "
        "the priority is that of those who must wait for it no longer."
    )
    tally: Tally = Attribute("Set by luxid: takes what is counted here, and what runners have counted.")

    def reserve() -> "Deferred[IRunner]":
        """A runner that is ready and nobody else's. Cancelling gives it up.

        @raise RunnerDied: none could be had within the time limit.
        """

    def give_back(runner: IRunner) -> None:
        """A reserved runner that was not used after all."""

    def counts() -> RunnerCounts:
        """How many runners there are now."""

    def tell_lagging(names: Collection[str]) -> None:
        """Have every runner know the candidates for which nobody waits with copies of jobs, now and to come."""

    def adopt(job: QueuedJob) -> "IRunner | None":
        """The runner that an earlier daemon started for this job, when it lives; its `run` waits for the end only."""
