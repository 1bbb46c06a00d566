"""The job queue put together: which job is next, and whether it may start. The rooms beside this one do the rest:
`ready` keeps the order, `runs` hands jobs to processes and follows them, `resume` takes up what an earlier luxid left,
`requests` answers about single jobs, `submission` makes jobs.
"""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from attrs import define, field

from ganeti_tx.errors import GanetiError, JobCanceled, JobFileCorrupted, JobQueueError, OpExecError
from ganeti_tx.metrics.jobs import SUBMITTED
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.counting import count_end
from ganeti_tx.queue.dependencies import DependencyState, Submitted, examine, settle
from ganeti_tx.queue.files.job_head import JobHead
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.filters.admission import Rules
from ganeti_tx.queue.filters.gate import Gate
from ganeti_tx.queue.job import QueuedJob, Status
from ganeti_tx.queue.launcher import IJobLauncher
from ganeti_tx.queue.ready import ReadyQueue
from ganeti_tx.queue.requests import JobRequests
from ganeti_tx.queue.resume import Resumption
from ganeti_tx.queue.runs import Runs
from ganeti_tx.queue.secrets import secret_parameters
from ganeti_tx.queue.submission import MAX_OPEN_JOBS, Sent, bounded, check_limits, new_job
from ganeti_tx.queue.tracking import Tracking
from ganeti_tx.queue.withdrawn import WithdrawnCallers


@define
class Scheduler:
    """Starts the most urgent jobs, up to the running limit. Limits are asked for when they are needed; `look_for_dead` has WConfD
    look for owners of locks that have died.
    """

    store: JobStore
    changes: JobChanges
    launcher: IJobLauncher
    now: Callable[[], float]
    running_limit: Callable[[], int]
    tracked_limit: Callable[[], int] = field(kw_only=True)
    look_for_dead: Callable[[], Coroutine[Any, Any, None]] = field(kw_only=True)
    rules: Callable[[], Rules] = field(kw_only=True)
    open_limit: int = field(default=MAX_OPEN_JOBS, kw_only=True)
    tally: Tally = field(factory=Tally, kw_only=True)
    ready: ReadyQueue = field(factory=ReadyQueue)
    runs: Runs = field(init=False)
    requests: JobRequests = field(init=False)
    tracking: Tracking = field(init=False)
    gate: Gate = field(init=False)
    withdrawn: WithdrawnCallers = field(init=False)
    _waking: bool = False

    def __attrs_post_init__(self) -> None:
        self.runs = Runs(self.store, self.changes, self.launcher, self.now, self._over, self.look_for_dead)
        self.tracking = Tracking(self.changes, self.runs, self.tracked_limit)
        self.launcher.may_go_on = self.may_go_on
        self.launcher.tally = self.tally
        self.requests = JobRequests(self.store, self.changes, self.ready, self.runs, self.wake)
        self.gate = Gate(self.rules, self.store, self.ready, self.runs)
        self.withdrawn = WithdrawnCallers(self.store.files, self.store.paths)

    # Submission

    async def submit(self, jobs: Sequence[Sequence[OpCode]], sent: Sequence[Sent] | None = None) -> list[int]:
        """Store the jobs and start what can start; gives their ids when they are safe on disk.

        @param sent: their opcodes as clients sent them, which is how they are stored.
        @raise JobQueueError: too many jobs or opcodes, or the disk refused.
        @raise OpPrereqError: one depends on a job that cannot be.
        @raise JobCanceled: one was asked for by somebody whose rights have changed since.
        """
        answers = await self.submit_each(jobs, sent, all_or_none=True)
        return [each for each in answers if not isinstance(each, GanetiError)]

    async def submit_each(
        self, jobs: Sequence[Submitted], sent: Sequence[Sent] | None = None, all_or_none: bool = False
    ) -> list[int | GanetiError]:
        """The same for many jobs, some of which may have been refused already: for each its id, or why there is none.

        @raise JobQueueError: as `submit`.
        """
        settled = settle([self._permitted(bounded(ops)) for ops in jobs], self.store.last_id, self._is_known)
        refused = next((ops for ops in settled if isinstance(ops, GanetiError)), None)
        if all_or_none and refused is not None:
            raise refused
        spelled: Sequence[Sent | None] = sent or [None] * len(settled)
        taken = [(ops, wire) for ops, wire in zip(settled, spelled, strict=True) if not isinstance(ops, GanetiError)]
        ids = iter(await self._store(taken))
        return [ops if isinstance(ops, GanetiError) else next(ids) for ops in settled]

    def _permitted(self, ops: Submitted) -> Submitted:
        """The job, or why it is refused for who asked for it."""
        if isinstance(ops, GanetiError):
            return ops
        return self.withdrawn.refusal(op.reason for op in ops) or ops

    async def _store(self, jobs: Sequence[tuple[Sequence[OpCode], Sent | None]]) -> list[int]:
        check_limits(len(jobs), self.store.open_count, self.open_limit)
        received = self.now()
        waiting = iter(jobs)
        numbers: list[int] = []

        def make(job_id: int) -> QueuedJob:
            numbers.append(job_id)
            return self._new_job(job_id, *next(waiting), received)

        try:
            stored = await self.store.add(make, len(jobs))
        except JobQueueError:
            self.runs.refused(numbers)
            raise
        self.tally.count(SUBMITTED, by=len(stored))
        for job in stored:
            self._enqueue(job)
        self.gate.turn_away(stored)
        self._cancel_withdrawn(stored)
        self.wake()
        return [job.id for job in stored]

    def _cancel_withdrawn(self, jobs: Sequence[QueuedJob]) -> None:
        """End those whose caller's rights were taken away while they were stored, when nobody could see them yet."""
        for job in jobs:
            found = self.store.glance(job.id)
            if not isinstance(found, QueuedJob) or job.id in self.runs:
                continue
            if (refusal := self.withdrawn.refusal(op.input["reason"] for op in found.ops)) is not None:
                self.ready.leave(job.id)
                self.runs.claim_and_end(found, Status.CANCELED, refusal)

    def _new_job(self, job_id: int, ops: Sequence[OpCode], sent: Sent | None, received: float) -> QueuedJob:
        job = new_job(job_id, ops, received, sent)
        if secrets := {index: secret for index, op in enumerate(ops) if (secret := secret_parameters(op))}:
            self.runs.secrets[job_id] = secrets
        return job

    # Choosing

    def _enqueue(self, job: QueuedJob) -> None:
        self.ready.join(job.id, job.priority)

    def wake(self) -> None:
        """Look for jobs that can start; called whenever something changed that may let one."""
        if self._waking:
            return
        self._waking = True
        try:
            self.gate.renew()
            while len(self.runs) < self.running_limit() and (job := self._next()) is not None:
                self.ready.leave(job.id)
                self.gate.started(job)
                self.runs.start(job)
        finally:
            self._waking = False

    def _next(self) -> QueuedJob | None:
        """The most urgent job that may start now; it stays in its place, and those before it that may not are put aside."""
        while (first := self._first()) is not None:
            job = self.store.glance(first)
            if not isinstance(job, QueuedJob) or job.status is not Status.QUEUED:
                self.ready.leave(first)
            elif first in self.runs:  # its file is just being written
                self.ready.block(first, on=first)
            elif self._consider(job):
                return job
        return None

    def _first(self) -> int | None:
        self.gate.recall()
        return self.ready.first()

    def may_go_on(self, job_id: int, priority: int) -> bool:
        """Whether a job keeps its slot between opcodes or tries: there are free ones, or nobody as urgent waits for one."""
        run = self.runs.get(job_id)
        if run is None or run.canceled or len(self.runs) < self.running_limit():
            return True
        waiting = self._next()
        return waiting is None or waiting.priority > priority

    def _consider(self, job: QueuedJob) -> bool:
        """Whether a job that is next may start now. One that may not leaves its place: it waits elsewhere, or ends."""
        finding = examine(job, self._status_of)
        if finding.state is DependencyState.READY:
            return self.gate.admits(job)
        if finding.state is DependencyState.WAIT:
            self.ready.block(job.id, finding.job_id)
            return False
        self.ready.leave(job.id)
        if finding.state is DependencyState.CANCEL:
            self.runs.claim_and_end(job, Status.CANCELED, JobCanceled(f"job {job.id} {finding.reason}"))
        else:
            self.runs.claim_and_end(job, Status.ERROR, OpExecError(f"job {job.id} {finding.reason}"))
        return False

    def _status_of(self, job_id: int) -> Status | None:
        """None for a job that is gone, and for one whose archived file cannot be read."""
        known = self.store.glance(job_id)
        if known is not None:
            return known.status
        try:
            found = self.store.find(job_id)
        except (JobFileCorrupted, OSError):
            return None
        return None if found is None else found[0].status

    def _is_known(self, job_id: int) -> bool:
        return self._status_of(job_id) is not None

    # What happens to jobs

    def _over(self, job_id: int) -> None:
        """A job is out of everybody's hands: it has ended, or it waits again."""
        job = self.store.glance(job_id)
        self.ready.unblock(job_id)
        self.gate.over(job_id)
        if isinstance(job, JobHead):
            count_end(self.tally, job)
        if not isinstance(job, QueuedJob) or job.finalized:
            self.ready.leave(job_id)
        elif job.status is Status.QUEUED and job.livelock is None and job_id not in self.ready:
            self.wake()  # the slot is for those it was given up for, although the job may be more urgent by now
            self._enqueue(job)
        self.wake()

    async def resume(self) -> None:
        """Take up the jobs that an earlier daemon left."""
        self.withdrawn.load()
        self._waking = True  # all are looked at before the first is started
        try:
            Resumption(self.store, self.runs, self._enqueue).resume()
        finally:
            self._waking = False
        self.gate.count_running()
        self.wake()

    async def when_over(self, job_id: int) -> None:
        """As Runs says."""
        await self.runs.when_over(job_id)

    def is_followed(self, job_id: int) -> bool:
        """Whether a process is still busy with a job."""
        return job_id in self.runs

    def file_changed(self, job_id: int) -> None:
        """A job's process wrote its file."""
        if job_id in self.runs:
            self.store.outdate(job_id)
            self.tracking.changed(job_id)

    # Requests about jobs

    async def cancel(self, job_id: int, kill: bool) -> tuple[bool, str]:
        """As JobRequests says."""
        return await self.requests.cancel(job_id, kill)

    async def change_priority(self, job_id: int, priority: int) -> tuple[bool, str]:
        """As JobRequests says."""
        return await self.requests.change_priority(job_id, priority)
