"""What users ask of a job that is in the queue: cancel it, give it another priority."""

from collections.abc import Callable

from attrs import frozen

from ganeti_tx.errors import JobCanceled, JobQueueError
from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.job import QueuedJob, Status, with_priority
from ganeti_tx.queue.ready import ReadyQueue
from ganeti_tx.queue.runs import Runs
from ganeti_tx.queue.store import JobStore


@frozen
class JobRequests:
    """Each answer is whether it was or will be done, and a sentence for the user."""

    store: JobStore
    changes: JobChanges
    ready: ReadyQueue
    runs: Runs
    wake: Callable[[], None]

    async def cancel(self, job_id: int, kill: bool) -> tuple[bool, str]:
        """Cancel a job. @raise JobQueueError: its file cannot be written."""
        found = self.store.find(job_id)
        if found is None:
            return False, f"job {job_id} is not known"
        job = found[0]
        run = self.runs.get(job_id)
        if job.finalized:
            return False, f"Job {job_id} is finished, it cannot be canceled"
        if run is None:
            await self.runs.cancel_waiting(job)
            return True, f"Job {job_id} canceled"
        run.canceled = True
        if run.runner is not None and kill:
            run.killed = True
            run.runner.kill()
            return True, f"Job {job_id} killed"
        if run.runner is not None:
            run.runner.cancel()
        return True, f"Job {job_id} will be canceled"

    async def change_priority(self, job_id: int, priority: int) -> tuple[bool, str]:
        """Give the opcodes that have not run yet another priority."""
        found = self.store.find(job_id)
        if found is None:
            return False, f"job {job_id} is not known"
        job = found[0]
        if job.finalized:
            return False, f"Job {job_id} is finished"
        run = self.runs.get(job_id)
        if run is None:
            await self._reorder(job, priority)
        elif run.runner is not None:
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
                self.runs.claim_and_end(now, Status.CANCELED, JobCanceled(f"job {job.id} was canceled"))
            else:
                self.runs.release(job.id)
