"""Jobs in the hands of processes: how each is handed over, followed, and written down when nobody else ends it."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any

from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred, TimeoutError
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.errors import (
    GanetiError,
    JobCanceled,
    JobFileCorrupted,
    JobQueueError,
    OpExecError,
    ProgrammerError,
    encode_error,
    error_text,
)
from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.job import (
    QueuedJob,
    Status,
    ended,
    handed_over,
    handed_to_undo,
    nothing_half_done,
    put_back,
)
from ganeti_tx.queue.launcher import IJobLauncher, IRunner, RunnerDied
from ganeti_tx.queue.run import Run, Stage, Wish, death_of
from ganeti_tx.queue.secrets import Secrets, lost_secrets
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.files_retry import FIRST_PAUSE, until_written

log = Logger()

#: Seconds for which the end of a job whose process died waits until its locks are free.
RELEASE_LIMIT = 1.0
#: Seconds for which a job whose file cannot be written keeps its slot before it is tried again.
RETRY_DELAY = 5.0
#: How many processes may die while they take back what one job has begun.
UNDO_TRIES = 5


@define
class Runs:
    """Hands jobs to processes and follows them. `over` is told of each that is out of a process's hands, whether it has
    ended or waits again; `look_for_dead` has the locks of dead processes freed.
    """

    store: JobStore
    changes: JobChanges
    launcher: IJobLauncher
    now: Callable[[], float]
    over: Callable[[int], None]
    look_for_dead: Callable[[], Coroutine[Any, Any, None]]
    secrets: dict[int, Secrets] = field(factory=dict, repr=False)
    _runs: dict[int, Run] = field(factory=dict)
    _awaited: "dict[int, list[Deferred[None]]]" = field(factory=dict)
    _clearing: bool = False

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
        """Keep everybody else from a job that nobody is busy with; `release` ends that."""
        return self._take_in(Run(job_id))

    def _take_in(self, run: Run) -> Run:
        if run.job_id in self._runs:
            raise ProgrammerError(f"job {run.job_id} is claimed already: {self._runs[run.job_id].stage.name}")
        self._runs[run.job_id] = run
        return run

    def release(self, run: Run) -> None:
        """The job is nobody's again."""
        run.release()
        job_id = run.job_id
        del self._runs[job_id]
        for waiting in self._awaited.pop(job_id, ()):
            if not waiting.called:
                waiting.callback(None)
        self.changes.announce(job_id)
        self.over(job_id)

    def claim_and_end(self, job: QueuedJob, status: Status, error: Exception | str) -> "Deferred[None]":
        """End a job that waits or is in nobody's hands; while its file is written nobody else may start or change it."""
        run = self.claim(job.id)
        run.ask(Wish.CANCEL)
        return self._detach(self._end(run, job, status, error), run)

    def end_canceled(self, run: Run, job: QueuedJob) -> "Deferred[None]":
        """End a job that was claimed for something else, and canceled meanwhile."""
        return self._detach(self._cancel(run, job), run)

    async def _end(self, run: Run, job: QueuedJob, status: Status, error: Exception | str) -> None:
        """Write the end of a job that no process will end; when the disk refuses it, that goes on beside all else."""
        run.settle()

        async def done() -> None:
            self._forget_secrets(job.id)
            self.release(run)

        result = error if isinstance(error, str) else encode_error(error)
        await self._insist(run, ended(job, status, result, self.now()), done)

    async def _cancel(self, run: Run, job: QueuedJob) -> None:
        await self._end(run, job, Status.CANCELED, JobCanceled(f"job {job.id} was canceled"))

    async def cancel_waiting(self, job: QueuedJob) -> None:
        """End a job that no process has. @raise JobQueueError: its file cannot be written, so it goes on waiting."""
        run = self.claim(job.id)
        run.ask(Wish.CANCEL)
        end = ended(job, Status.CANCELED, encode_error(JobCanceled(f"job {job.id} was canceled")), self.now())
        try:
            await self.store.put(end)
            self._forget_secrets(job.id)
        except OSError as error:
            path = self.store.paths.job_file(job.id)
            raise JobQueueError(
                f"job {job.id} is not canceled: cannot write {path}: {error.strerror or error}"
            ) from None
        finally:
            self.release(run)

    async def _insist(self, run: Run, job: QueuedJob, then: Callable[[], Awaitable[None]]) -> None:
        """Write a job's file and go on; if it cannot be written, return, and do it as soon as the disk takes it."""
        try:
            await self.store.put(job)
        except OSError as error:
            log.error("job {job_id} cannot be written: {reason}", job_id=job.id, reason=reason(error))
            self._detach(self._insist_later(job, then), run)
        else:
            await then()

    async def _insist_later(self, job: QueuedJob, then: Callable[[], Awaitable[None]]) -> None:
        await deferLater(self.changes.clock, FIRST_PAUSE)
        await until_written(lambda: self.store.put(job), self.changes.clock)
        await then()

    def _forget_secrets(self, job_id: int) -> None:
        self.secrets.pop(job_id, None)

    def _detach(self, work: Coroutine[Any, Any, None], run: Run) -> "Deferred[None]":
        """Let a job's coroutine go on by itself; a fault in it ends that job's run, not the queue. It may be tried again, but
        not at once, for that could go on for ever.
        """

        def broken(failure: Failure) -> None:
            log.failure("the run of job {job_id} broke", failure, job_id=run.job_id)
            if run.stage is not Stage.RELEASED:
                run.settle()
            self.changes.clock.callLater(RETRY_DELAY, self._recover, run)

        return Deferred.fromCoroutine(work).addErrback(broken)

    def _recover(self, run: Run) -> None:
        """Release what broke; if it was released, perhaps not everybody has heard of it."""
        if run.stage is not Stage.RELEASED:
            self.release(run)
        elif run.job_id not in self._runs:
            self.over(run.job_id)

    def refused(self, job_ids: Iterable[int]) -> None:
        """Jobs with these ids could not be stored: nothing of them shall be left, their secrets least of all."""
        for job_id in job_ids:
            self._forget_secrets(job_id)
        self.clear_away()

    def clear_away(self) -> None:
        """Remove what refused submissions have left, as soon as the disk lets us: a restart would run it."""
        if not (self._clearing or self.store.remove_refused()):
            self._clearing = True
            self.changes.clock.callLater(RETRY_DELAY, self._clear_again)

    def _clear_again(self) -> None:
        self._clearing = False
        self.clear_away()

    # Handing over

    def start(self, job: QueuedJob) -> None:
        """Give a job to a process."""
        run = self.claim(job.id)
        self._detach(self._start(run, job), run)

    async def _start(self, run: Run, job: QueuedJob) -> None:
        reservation = self.launcher.reserve()
        run.reserve(reservation)
        try:
            runner = await reservation
        except RunnerDied as error:
            lack = OpExecError(f"no process could be started for job {job.id}: {error}")
            await self._end(run, job, Status.ERROR, lack)
            return
        except CancelledError:
            await self._cancel(run, job)
            return
        run.hand_over()
        job = handed_over(self.store.get(job.id) or job, runner.livelock, runner.process_id, self.now())
        try:
            await self.store.put(job)
        except OSError as error:
            self.launcher.give_back(runner)
            log.error("job {job_id} cannot be started: {reason}", job_id=job.id, reason=reason(error))
            await self._start_later(run, job)
            return
        if run.canceled:
            self.launcher.give_back(runner)
            await self._cancel(run, job)
            return
        run.give_to(runner)
        self.changes.announce(job.id)
        await self._follow(run, runner.run(job, self.secrets.get(job.id, {})))

    # Taking back what a dead process has begun

    def claim_and_undo(self, job: QueuedJob, cause: str) -> None:
        """The same for a job in nobody's hands. @param cause: what ended its process."""
        run = self.claim(job.id)
        self._detach(self._undo(run, job, cause), run)

    async def _undo(self, run: Run, job: QueuedJob, cause: str) -> None:
        """Give an interrupted job to a fresh process, which takes back what was begun, and ends it."""
        runner, handed = None, job
        while runner is None:
            run.interrupt()
            run.reserve(self.launcher.reserve())
            try:
                runner, handed = await self._hand_to_undo(run, job, cause)
            except (RunnerDied, OSError) as error:
                log.error("job {job_id} cannot be undone yet: {error}", job_id=job.id, error=error_text(error))
                run.settle()
                await deferLater(self.changes.clock, RETRY_DELAY)
        run.give_to(runner)
        self.changes.announce(job.id)
        await self._follow(run, runner.run(handed, {}))

    async def _hand_to_undo(self, run: Run, job: QueuedJob, cause: str) -> tuple[IRunner, QueuedJob]:
        assert run.reservation is not None
        runner = await run.reservation
        run.hand_over()
        handed = handed_to_undo(job, runner.livelock, runner.process_id, cause, run.wish is Wish.KILL)
        try:
            await self.store.put(handed)
        except OSError:
            self.launcher.give_back(runner)
            raise
        return runner, handed

    async def _start_later(self, run: Run, job: QueuedJob) -> None:
        """Keep the slot of a job whose file cannot be written, then let it wait again."""
        run.settle()
        await deferLater(self.changes.clock, RETRY_DELAY)
        if run.canceled:
            await self._cancel(run, self.store.get(job.id) or job)
        else:
            self.release(run)

    # Following

    def adopt(self, job: QueuedJob) -> bool:
        """Follow a job that an earlier daemon handed over; false when its process is dead."""
        runner = self.launcher.adopt(job)
        if runner is None:
            return False
        run = self._take_in(Run(job.id, adopted=True))
        run.undoing = job.interrupted is not None and job.interrupted[1].tries > 0
        run.give_to(runner)
        self._detach(self._follow(run, runner.run(job, {})), run)
        return True

    async def _follow(self, run: Run, over: "Deferred[None]") -> None:
        """Wait for a job's process to be done with it; a process that died is named in the job's file."""
        died: RunnerDied | None = None
        try:
            await over
        except RunnerDied as error:
            died = error
        run.settle()
        if died is not None:
            await self._release_dead()
        try:
            job = await self._outcome(run.job_id)
        except JobFileCorrupted as error:
            await self._end_unread(run, error)
            return
        if job is None or job.finalized:
            self._forget_secrets(run.job_id)
            self.release(run)
        elif job.interrupted is not None:
            await self._interrupted(run, job, died)
        elif run.wish is Wish.KILL:
            await self._end(run, job, Status.CANCELED, JobCanceled(f"job {job.id} was killed"))
        elif job.livelock is None:
            await self._stepped_back(run, job)
        elif nothing_half_done(job) and run.never_had_it(died):
            await self._put_back(run, job)
        else:
            await self._end(run, job, Status.ERROR, OpExecError(death_of(job, died)))

    async def _interrupted(self, run: Run, job: QueuedJob, died: RunnerDied | None) -> None:
        """Its process has begun what must not stay half done."""
        assert job.interrupted is not None
        _, record = job.interrupted
        if record.tries < UNDO_TRIES:
            cause = f"job {job.id} was killed" if run.wish is Wish.KILL else death_of(job, died)
            await self._undo(run, job, cause)
            return
        text = f"{record.cause}; nothing is known of what was to be taken back, as {record.tries} processes died of it"
        left = "; ".join(undo.title for undo in reversed(record.steps))
        await self._end(run, job, Status.ERROR, OpExecError(f"{text}: {left}"))

    async def _release_dead(self) -> None:
        """Have the locks of the dead freed before anybody reads of the death; when that cannot be, WConfD finds it itself."""
        try:
            await Deferred.fromCoroutine(self.look_for_dead()).addTimeout(RELEASE_LIMIT, self.changes.clock)
        except (GanetiError, OSError, TimeoutError) as error:
            log.warn("WConfD was not told that a job's process died: {error}", error=error_text(error))

    async def _outcome(self, job_id: int) -> QueuedJob | None:
        """What the job's process wrote last. While that cannot be read the job stays as it is: it may have ended well.

        @raise JobFileCorrupted: nobody will ever read it.
        """
        while True:
            try:
                return self.store.read_now(job_id)
            except OSError as error:
                log.error("job {job_id} cannot be read: {reason}", job_id=job_id, reason=reason(error))
            await deferLater(self.changes.clock, RETRY_DELAY)

    async def _end_unread(self, run: Run, damage: JobFileCorrupted) -> None:
        """End a job whose file was spoiled while a process had it: it may have been done, so it is not run again."""
        job = self.store.get(run.job_id)
        self.store.lost.set_aside(self.store.paths.job_file(run.job_id), damage)
        if job is None:
            self.release(run)
        else:
            await self._end(run, job, Status.ERROR, OpExecError(f"how it ended is not known: {error_text(damage)}"))

    async def _stepped_back(self, run: Run, job: QueuedJob) -> None:
        """The process has written the job back into the queue, and does nothing with it any more."""
        if run.canceled:
            await self._cancel(run, job)
        elif (changed := run.with_asked_priority(job)) is not job:  # it came too late for the process
            await self._insist(run, changed, lambda: self._released(run))
        else:
            self.release(run)

    async def _released(self, run: Run) -> None:
        self.release(run)

    async def _put_back(self, run: Run, job: QueuedJob) -> None:
        """Queue a job again whose process is gone, or never had it, while none of its opcodes was half done."""
        run.settle()
        job = put_back(run.with_asked_priority(job))
        if not run.canceled and job.id not in self.secrets and (error := lost_secrets(job)) is not None:
            await self._end(run, job, Status.ERROR, error)
            return

        async def waits_again() -> None:
            if run.canceled:
                await self._cancel(run, job)
            else:
                self.release(run)

        await self._insist(run, job, waits_again)

    def claim_and_put_back(self, job: QueuedJob) -> None:
        """The same for a job that is in nobody's hands."""
        run = self.claim(job.id)
        self._detach(self._put_back(run, job), run)

    async def when_over(self, job_id: int) -> None:
        """Returns when no process is busy with a job any more, be it only with copies of its end."""
        if job_id in self._runs:
            over: Deferred[None] = Deferred()
            self._awaited.setdefault(job_id, []).append(over)
            await over
