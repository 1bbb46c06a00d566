"""Jobs in the hands of processes: how each is handed over, followed, and written down when nobody else ends it."""

from collections.abc import Callable, Iterator
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.errors import JobCanceled, OpExecError, encode_error
from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.job import QueuedJob, Status, ended, handed_over, nothing_half_done, put_back
from ganeti_tx.queue.launcher import IJobLauncher, IRunner, RunnerDied
from ganeti_tx.queue.secrets import Secrets, lost_secrets
from ganeti_tx.queue.store import JobStore

log = Logger()

#: Seconds for which a job whose file cannot be written keeps its slot before it is tried again.
RETRY_DELAY = 5.0


@define
class Run:
    """A job that has been handed to a process, or whose file luxid itself is just writing."""

    runner: IRunner | None = None
    canceled: bool = False
    killed: bool = False
    adopted: bool = False


@define
class Runs:
    """Hands jobs to processes and follows them. `over` is told of each that is out of a process's hands, whether it has
    ended or waits again; `withdraw` cancels a job that was asked to stop while nobody could be told.
    """

    store: JobStore
    changes: JobChanges
    launcher: IJobLauncher
    now: Callable[[], float]
    over: Callable[[int], None]
    withdraw: Callable[[int], Any]
    secrets: dict[int, Secrets] = field(factory=dict)
    _runs: dict[int, Run] = field(factory=dict)
    _awaited: "dict[int, list[Deferred[None]]]" = field(factory=dict)

    def __len__(self) -> int:
        return len(self._runs)

    def __contains__(self, job_id: int) -> bool:
        return job_id in self._runs

    def __iter__(self) -> Iterator[int]:
        """The ids of the jobs, in the order in which they were handed over."""
        return iter(self._runs)

    def get(self, job_id: int) -> Run | None:
        """The run of a job, while there is one."""
        return self._runs.get(job_id)

    # What luxid does with a job by itself

    def claim(self, job_id: int) -> Run:
        """Keep everybody else from a job whose file is about to be written; `release` ends that."""
        run = self._runs[job_id] = Run()
        return run

    def release(self, job_id: int) -> None:
        """The job is nobody's again."""
        self._runs.pop(job_id, None)
        for waiting in self._awaited.pop(job_id, ()):
            if not waiting.called:
                waiting.callback(None)
        self.changes.announce(job_id)
        self.over(job_id)

    def claim_and_end(self, job: QueuedJob, status: Status, error: Exception) -> "Deferred[None]":
        """End a job that waits; while its file is written nobody else may start or change it."""
        self.claim(job.id).canceled = True
        return self._detach(self.end(job, status, error), job.id)

    async def end(self, job: QueuedJob, status: Status, error: Exception) -> None:
        """Write the end of a job that no process will end."""
        try:
            await self.store.put(ended(job, status, encode_error(error), self.now()))
        finally:
            self._forget_secrets(job.id)
            self.release(job.id)

    def _forget_secrets(self, job_id: int) -> None:
        self.secrets.pop(job_id, None)

    def _detach(self, work: Any, job_id: int) -> "Deferred[None]":
        """Let a job's coroutine go on by itself; a fault in it ends that job's run, not the queue."""

        def broken(failure: Any) -> None:
            log.failure("the run of job {job_id} broke", failure, job_id=job_id)
            self.release(job_id)

        return Deferred.fromCoroutine(work).addErrback(broken)

    # Handing over

    def start(self, job: QueuedJob) -> None:
        """Give a job to a process."""
        self.claim(job.id)
        self._detach(self._start(job), job.id)

    async def _start(self, job: QueuedJob) -> None:
        run = self._runs[job.id]
        try:
            runner: IRunner = await self.launcher.reserve()
        except RunnerDied as error:
            await self.end(job, Status.ERROR, OpExecError(f"no process could be started for job {job.id}: {error}"))
            return
        if run.canceled:
            await self._cancel_unstarted(job, runner)
            return
        job = handed_over(self.store.get(job.id) or job, runner.livelock, runner.process_id, self.now())
        try:
            await self.store.put(job)
        except OSError as error:
            self.launcher.give_back(runner)
            log.error("job {job_id} cannot be started: {error}", job_id=job.id, error=error)
            self.changes.clock.callLater(RETRY_DELAY, self.release, job.id)
            return
        if run.canceled:
            await self._cancel_unstarted(job, runner)
            return
        run.runner = runner  # not before: a runner that has no job yet cannot be told to stop it
        self.changes.announce(job.id)
        await self._follow(job.id, runner.run(job, self.secrets.get(job.id, {})))

    async def _cancel_unstarted(self, job: QueuedJob, runner: IRunner) -> None:
        self.launcher.give_back(runner)
        await self.end(job, Status.CANCELED, JobCanceled(f"job {job.id} was canceled"))

    # Following

    def adopt(self, job: QueuedJob) -> bool:
        """Follow a job that an earlier daemon handed over; false when its process is dead."""
        runner = self.launcher.adopt(job)
        if runner is None:
            return False
        self._runs[job.id] = Run(runner, adopted=True)
        self._detach(self._follow(job.id, runner.run(job, {})), job.id)
        return True

    async def _follow(self, job_id: int, over: "Deferred[None]") -> None:
        """Wait for a job's process to be done with it; a process that died is named in the job's file."""
        run = self._runs[job_id]
        died: RunnerDied | None = None
        try:
            await over
        except RunnerDied as error:
            died = error
        job = self.store.reload(job_id)
        if job is None or job.finalized:
            self._forget_secrets(job_id)
            self.release(job_id)
        elif run.killed:
            await self.end(job, Status.CANCELED, JobCanceled(f"job {job_id} was killed"))
        elif job.livelock is None:
            await self._stepped_back(job, run)
        elif nothing_half_done(job) and (died is None or (run.adopted and not run.canceled)):
            await self.put_back(job)
        else:
            reason = died or "it ended without finishing the job"
            who = f"the process {job.process_id} of job {job_id} ({job.livelock})"
            await self.end(job, Status.ERROR, OpExecError(f"{who} died: {reason}"))

    async def _stepped_back(self, job: QueuedJob, run: Run) -> None:
        """The process has written the job back into the queue, and does nothing with it any more."""
        if run.canceled:
            await self.end(job, Status.CANCELED, JobCanceled(f"job {job.id} was canceled"))
        else:
            self.release(job.id)

    async def put_back(self, job: QueuedJob) -> None:
        """Queue a job again whose process is gone, or never had it, while none of its opcodes was half done."""
        run = self._runs.setdefault(job.id, Run())
        job = put_back(job)
        if not run.canceled and (error := lost_secrets(job)) is not None:
            await self.end(job, Status.ERROR, error)
            return
        try:
            await self.store.put(job)
        finally:
            self.release(job.id)
        if run.canceled:
            await self.withdraw(job.id)

    async def when_over(self, job_id: int) -> None:
        """Returns when no process is busy with a job any more, be it only with copies of its end."""
        if job_id in self._runs:
            over: Deferred[None] = Deferred()
            self._awaited.setdefault(job_id, []).append(over)
            await over
