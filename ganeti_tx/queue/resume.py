"""What a new luxid makes of the jobs that an earlier one left."""

from collections.abc import Callable

from attrs import frozen

from ganeti_tx.errors import OpExecError
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.job import QueuedJob, Status, nothing_half_done
from ganeti_tx.queue.runs import Runs
from ganeti_tx.queue.secrets import lost_secrets


@frozen
class Resumption:
    """The queued wait on, the living go on, the dead are ended; the job's file decides which it is."""

    store: JobStore
    runs: Runs
    enqueue: Callable[[QueuedJob], None]

    def resume(self) -> None:
        """Look at every job: first for the living, who do not wait, then in the order in which the others join."""
        open_jobs = self.store.open_jobs
        handed_over = [job for job in open_jobs if job.livelock is not None]
        living = {job.id for job in handed_over if self.runs.adopt(job)}
        for job in open_jobs:
            if job.livelock is None and job.status is Status.QUEUED:
                self._take_up(job)
            elif job.id not in living:
                self._end_dead(job)

    def _take_up(self, job: QueuedJob) -> None:
        if (error := lost_secrets(job)) is not None:
            self.runs.claim_and_end(job, Status.ERROR, error)
        else:
            self.enqueue(job)

    def _end_dead(self, job: QueuedJob) -> None:
        """End a job whose process died while there was no daemon, unless it managed to bring it to its end first."""
        now = self.store.reload(job.id)
        if now is None or now.finalized:
            return
        if nothing_half_done(now):
            self.runs.claim_and_put_back(now)
            return
        if now.interrupted is not None:
            self.runs.claim_and_undo(now, f"the process {job.process_id} of job {job.id} ({job.livelock}) is gone")
            return
        who = f"the process {job.process_id} of job {job.id} ({job.livelock})"
        self.runs.claim_and_end(now, Status.ERROR, OpExecError(f"{who} is gone"))
