"""What users ask of a job that is in the queue: cancel it, give it another priority."""

from collections.abc import Callable

from attrs import frozen
from twisted.internet.defer import Deferred, TimeoutError

from ganeti_tx.errors import JobQueueError
from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.job import FINAL, QueuedJob, Status, with_priority
from ganeti_tx.queue.launcher import IRunner
from ganeti_tx.queue.ready import ReadyQueue
from ganeti_tx.queue.run import Run, Wish
from ganeti_tx.queue.runs import Runs

#: Seconds for which a cancel waits until a process has taken note or is dead; LUXI clients wait 44.
STOP_LIMIT = 10.0
#: Seconds for which it then waits for the end of a job that only waits.
END_LIMIT = 5.0


@frozen
class JobRequests:
    """Each answer is whether it was or will be done, and a sentence for the user."""

    store: JobStore
    changes: JobChanges
    ready: ReadyQueue
    runs: Runs
    wake: Callable[[], None]

    async def cancel(self, job_id: int, kill: bool) -> tuple[bool, str]:
        """Cancel a job, by force if need be; the sentence is true when it is said, by the job's file.

        @raise JobQueueError: the file of a job that waits cannot be written.
        """
        run: Run | None = None
        while True:
            found = self.store.find(job_id)
            if found is None:
                return False, f"Job {job_id} not found in queue"
            job = found[0]
            if job.finalized:
                return ended_answer(job, run)
            run = self.runs.get(job_id)
            if run is None:
                await self.runs.cancel_waiting(job)
                return True, f"Job {job_id} canceled"
            if run.undoing and (run.runner is None or not kill):
                return False, f"Job {job_id} takes back what it had begun, and ends then; its process had died"
            run.ask(Wish.CANCEL)
            if run.runner is not None:
                return await (self._kill(job, run, run.runner) if kill else self._stop(job, run, run.runner))
            if run.reservation is not None:
                run.reservation.cancel()
            if not await self._is_over(job_id, STOP_LIMIT):
                return False, f"Job {job_id} is just being started or ended; try again"

    async def _stop(self, job: QueuedJob, run: Run, runner: IRunner) -> tuple[bool, str]:
        """What the process made of the wish that it stop; a job that waits ends at once."""
        if not await self._within(STOP_LIMIT, runner.cancel()):
            return False, (
                f"Job {job.id} was not canceled: its process {runner.process_id} does not answer; "
                "when it does, it is asked to stop; 'gnt-job cancel --kill' ends it"
            )
        now = self.store.reload(job.id) or job
        if now.status not in (Status.CANCELING, *FINAL):
            await self._is_over(job.id, END_LIMIT)
            now = self.store.reload(job.id) or now
        if now.finalized:
            return ended_answer(now, run)
        return True, f"Job {job.id} will be canceled at its next safe point, unless it ends before"

    async def _kill(self, job: QueuedJob, run: Run, runner: IRunner) -> tuple[bool, str]:
        run.ask(Wish.KILL)
        runner.kill()
        if not await self._is_over(job.id, STOP_LIMIT):
            return False, f"Job {job.id}: its process {runner.process_id} was sent SIGKILL, but the job is not over yet"
        found = self.store.find(job.id)
        return ended_answer(found[0] if found is not None else job, run)

    async def _is_over(self, job_id: int, limit: float) -> bool:
        """Whether nobody is busy with a job any more, at once or within so many seconds."""
        return await self._within(limit, Deferred.fromCoroutine(self.runs.when_over(job_id)))

    async def _within(self, limit: float, waiting: "Deferred[None]") -> bool:
        try:
            await waiting.addTimeout(limit, self.changes.clock)
        except TimeoutError:
            return False
        return True

    async def change_priority(self, job_id: int, priority: int) -> tuple[bool, str]:
        """Give the opcodes that have not run yet another priority."""
        found = self.store.find(job_id)
        if found is None:
            return False, f"Job {job_id} not found in queue"
        job = found[0]
        if job.finalized:
            return False, f"Job {job_id} is finished"
        run = self.runs.get(job_id)
        if run is None:
            await self._reorder(job, priority)
        elif run.runner is not None:
            run.priority = priority
            run.runner.set_priority(priority)
        else:
            return False, f"Job {job_id} is just being started or ended; try again"
        return True, f"Priorities of pending opcodes for job {job_id} have been changed to {priority}"

    async def _reorder(self, job: QueuedJob, priority: int) -> None:
        """Write a waiting job's new priority; a cancel that comes meanwhile is done after it."""
        run = self.runs.claim(job.id)
        try:
            await self.store.put(with_priority(job, priority))
        except OSError as error:
            path = self.store.paths.job_file(job.id)
            raise JobQueueError(
                f"the priority is not changed: cannot write {path}: {error.strerror or error}"
            ) from None
        finally:
            now = self.store.get(job.id) or job
            self.ready.change_priority(job.id, now.priority)
            if run.canceled:
                self.runs.end_canceled(run, now)
            else:
                self.runs.release(run)


def ended_answer(job: QueuedJob, run: Run | None) -> tuple[bool, str]:
    """The answer about a job that has ended; `run` is what was canceled just now, if anything was."""
    if job.status is Status.CANCELED and run is not None and run.canceled:
        return True, f"Job {job.id} was killed" if run.wish is Wish.KILL else f"Job {job.id} canceled"
    return False, f"Job {job.id} is finished ({job.status}), it cannot be canceled"
