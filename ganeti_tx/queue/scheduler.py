"""The order in which jobs run, and the life of each from submission to its end."""

import heapq
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.errors import JobCanceled, JobQueueError, OpExecError, encode_error
from ganeti_tx.model.opcodes import Disclosure, OpCode, encode
from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.dependencies import Verdict, absolute, examine
from ganeti_tx.queue.job import (
    QueuedJob,
    QueuedOp,
    Status,
    Timestamp,
    ended,
    has_not_begun,
    put_back,
    timestamp,
    with_open_ops,
)
from ganeti_tx.queue.launcher import IJobLauncher, IRunner, RunnerDied
from ganeti_tx.queue.secrets import lost_secrets, secret_parameters
from ganeti_tx.queue.store import JobStore, started

log = Logger()

#: More jobs than this may not wait and run at a time.
MAX_OPEN_JOBS = 200_000
#: One job holds no more opcodes than this.
MAX_OPS = 1000


@define
class Run:
    """A job that has been handed to a process, or is about to be."""

    runner: IRunner | None = None
    canceled: bool = False
    killed: bool = False
    adopted: bool = False


@define
class Scheduler:
    """Starts the most urgent jobs, up to the running limit, and writes down how each ended."""

    store: JobStore
    changes: JobChanges
    launcher: IJobLauncher
    now: Callable[[], float]
    running_limit: Callable[[], int]
    _ready: list[tuple[int, int]] = field(factory=list)
    _blocked: dict[int, set[int]] = field(factory=dict)
    _runs: dict[int, Run] = field(factory=dict)
    _secrets: dict[int, dict[int, dict[str, Any]]] = field(factory=dict)
    _awaited: "dict[int, list[Deferred[None]]]" = field(factory=dict)
    _waking: bool = False

    # Submission

    async def submit(self, jobs: Sequence[Sequence[OpCode]]) -> list[int]:
        """Store the jobs and start what can start; gives their ids when they are safe on disk.

        @raise JobQueueError: too many jobs or opcodes, or the disk refused.
        """
        if self.store.count + len(jobs) > MAX_OPEN_JOBS:
            raise JobQueueError(f"the queue is full: {MAX_OPEN_JOBS} jobs; archive some (gnt-job autoarchive)")
        if any(len(ops) > MAX_OPS for ops in jobs):
            raise JobQueueError(f"a job holds at most {MAX_OPS} opcodes")
        received = self.now()
        waiting = iter(jobs)
        stored = await self.store.add(lambda job_id: self._new_job(job_id, next(waiting), received), len(jobs))
        for job in stored:
            self._enqueue(job)
        self.wake()
        return [job.id for job in stored]

    def _new_job(self, job_id: int, ops: Sequence[OpCode], received: float) -> QueuedJob:
        if secrets := {index: secret for index, op in enumerate(ops) if (secret := secret_parameters(op))}:
            self._secrets[job_id] = secrets
        queued = [self._new_op(job_id, index, op, received) for index, op in enumerate(ops)]
        return QueuedJob(id=job_id, ops=queued, received_timestamp=timestamp(received))

    def _new_op(self, job_id: int, index: int, op: OpCode, received: float) -> QueuedOp:
        stored = encode(op, Disclosure.STORED)
        name = str(stored["OP_ID"]).removeprefix("OP_").lower()
        nanoseconds = round(received * 1e9)
        stored["reason"] = [*stored["reason"], [f"gnt:opcode:{name}", f"job={job_id};index={index}", nanoseconds]]
        if op.depends:
            stored["depends"] = absolute(op.depends, job_id)
        return QueuedOp(input=stored, priority=op.priority)

    # Choosing

    def _enqueue(self, job: QueuedJob) -> None:
        heapq.heappush(self._ready, (job.priority, job.id))

    def wake(self) -> None:
        """Look for jobs that can start; called whenever something changed that may let one."""
        if self._waking:
            return
        self._waking = True
        try:
            while self._ready and len(self._runs) < self.running_limit():
                priority, job_id = heapq.heappop(self._ready)
                job = self.store.glance(job_id)
                if not isinstance(job, QueuedJob) or job.status is not Status.QUEUED or job_id in self._runs:
                    continue
                if job.priority == priority:
                    self._consider(job)
        finally:
            self._waking = False

    def _consider(self, job: QueuedJob) -> None:
        finding = examine(job, self._status_of)
        if finding.verdict is Verdict.WAIT:
            self._blocked.setdefault(finding.job_id, set()).add(job.id)
        elif finding.verdict is Verdict.CANCEL:
            self._claim_and_end(job, Status.CANCELED, JobCanceled(f"job {job.id} {finding.reason}"))
        elif finding.verdict is Verdict.FAIL:
            self._claim_and_end(job, Status.ERROR, OpExecError(f"job {job.id} {finding.reason}"))
        else:
            self._runs[job.id] = Run()
            self._detach(self._run(job), job.id)

    def _claim_and_end(self, job: QueuedJob, status: Status, error: Exception) -> None:
        """End a job that waits; while its file is written nobody else may start or change it."""
        self._runs[job.id] = Run(canceled=True)
        self._detach(self._end(job, status, error), job.id)

    def _status_of(self, job_id: int) -> Status | None:
        known = self.store.glance(job_id)
        if known is not None:
            return known.status
        found = self.store.find(job_id)
        return None if found is None else found[0].status

    def _detach(self, work: Any, job_id: int) -> None:
        """Let a job's coroutine go on by itself; a fault in it ends that job's run, not the queue."""

        def broken(failure: Any) -> None:
            log.failure("the run of job {job_id} broke", failure, job_id=job_id)
            self._over(job_id)

        Deferred.fromCoroutine(work).addErrback(broken)

    # Running

    async def _run(self, job: QueuedJob) -> None:
        run = self._runs[job.id]
        try:
            runner: IRunner = await self.launcher.reserve()
        except RunnerDied as error:
            await self._end(job, Status.ERROR, OpExecError(f"no process could be started for job {job.id}: {error}"))
            return
        if run.canceled:
            await self._cancel_unstarted(job, runner)
            return
        job = self._waiting(self.store.get(job.id) or job, runner)
        try:
            await self.store.put(job)
        except OSError as error:
            self.launcher.give_back(runner)
            log.error("job {job_id} cannot be started: {error}", job_id=job.id, error=error)
            self._over(job.id)
            return
        if run.canceled:
            await self._cancel_unstarted(job, runner)
            return
        run.runner = runner  # not before: a runner that has no job yet cannot be told to stop it
        self.changes.announce(job.id)
        await self._follow(job.id, runner.run(job, self._secrets.get(job.id, {})))

    async def _cancel_unstarted(self, job: QueuedJob, runner: IRunner) -> None:
        self.launcher.give_back(runner)
        await self._end(job, Status.CANCELED, JobCanceled(f"job {job.id} was canceled"))

    def _waiting(self, job: QueuedJob, runner: IRunner) -> QueuedJob:
        """The job as its process finds it: the livelock in it, its first opcode waiting."""
        at: Timestamp = timestamp(self.now())
        first = msgspec.structs.replace(job.ops[0], status=Status.WAITING, start_timestamp=at) if job.ops else None
        ops = [first, *job.ops[1:]] if first is not None else []
        job = msgspec.structs.replace(job, ops=ops, start_timestamp=at)
        return started(job, runner.livelock, runner.process_id)

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
            self._over(job_id)
        elif run.adopted and not run.canceled and has_not_begun(job):
            await self._put_back(job)
        elif run.killed:
            await self._end(job, Status.CANCELED, JobCanceled(f"job {job_id} was killed"))
        else:
            reason = died or "it ended without finishing the job"
            who = f"the process {job.process_id} of job {job_id} ({job.livelock})"
            await self._end(job, Status.ERROR, OpExecError(f"{who} died: {reason}"))

    async def _end(self, job: QueuedJob, status: Status, error: Exception) -> None:
        """Write the end of a job that no process will end."""
        try:
            await self.store.put(ended(job, status, encode_error(error), self.now()))
        finally:
            self._over(job.id)

    def _over(self, job_id: int) -> None:
        self._runs.pop(job_id, None)
        self._secrets.pop(job_id, None)
        for waiting in self._awaited.pop(job_id, ()):
            if not waiting.called:
                waiting.callback(None)
        for blocked in self._blocked.pop(job_id, ()):
            job = self.store.get(blocked)
            if job is not None:
                self._enqueue(job)
        self.changes.announce(job_id)
        self.wake()

    # After a restart

    async def resume(self) -> None:
        """Take up the jobs that an earlier daemon left: the queued wait on, the living go on, the dead are ended."""
        dead: list[QueuedJob] = []
        for job in self.store.open_jobs:
            if job.livelock is None and job.status is Status.QUEUED:
                self._take_up(job)
            elif (runner := self.launcher.adopt(job)) is None:
                dead.append(job)
            else:
                self._runs[job.id] = Run(runner, adopted=True)
                self._detach(self._follow(job.id, runner.run(job, {})), job.id)
        for job in dead:
            await self._end_dead(job)
        self.wake()

    def _take_up(self, job: QueuedJob) -> None:
        if (error := lost_secrets(job)) is not None:
            self._claim_and_end(job, Status.ERROR, error)
        else:
            self._enqueue(job)

    async def _end_dead(self, job: QueuedJob) -> None:
        """End a job whose process died while there was no daemon, unless it managed to bring it to its end first."""
        now = self.store.reload(job.id)
        if now is None or now.finalized:
            return
        if has_not_begun(now):
            await self._put_back(now)
            return
        who = f"the process {job.process_id} of job {job.id} ({job.livelock})"
        await self._end(now, Status.ERROR, OpExecError(f"{who} is gone"))

    async def _put_back(self, job: QueuedJob) -> None:
        """Queue a job again that an earlier daemon gave to a process, which ended before it had begun with it."""
        run = self._runs.setdefault(job.id, Run())
        job = put_back(job)
        if not run.canceled and (error := lost_secrets(job)) is not None:
            await self._end(job, Status.ERROR, error)
            return
        try:
            await self.store.put(job)
            if not run.canceled:
                self._enqueue(job)
        finally:
            self._over(job.id)
        if run.canceled:
            await self.cancel(job.id, kill=False)

    async def when_over(self, job_id: int) -> None:
        """Returns when no process is busy with a job any more, be it only with copies of its end."""
        if job_id in self._runs:
            over: Deferred[None] = Deferred()
            self._awaited.setdefault(job_id, []).append(over)
            await over

    def is_followed(self, job_id: int) -> bool:
        """Whether a process is still busy with a job."""
        return job_id in self._runs

    def file_changed(self, job_id: int) -> None:
        """A job's process wrote its file."""
        if job_id in self._runs:
            self.store.outdate(job_id)
            self.changes.announce(job_id)

    # Requests about jobs

    async def cancel(self, job_id: int, kill: bool) -> tuple[bool, str]:
        """Cancel a job; gives whether it was or will be, and a sentence for the user."""
        found = self.store.find(job_id)
        if found is None:
            return False, f"job {job_id} is not known"
        job = found[0]
        run = self._runs.get(job_id)
        if job.finalized:
            return False, f"Job {job_id} is finished, it cannot be canceled"
        if run is None:
            self._runs[job_id] = Run(canceled=True)
            await self._end(job, Status.CANCELED, JobCanceled(f"job {job_id} was canceled"))
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
        run = self._runs.get(job_id)
        if run is None:
            await self._reorder(job, priority)
        elif run.runner is not None:
            run.runner.set_priority(priority)
        else:
            return False, f"Job {job_id} is just being started or ended; try again"
        return True, f"Priorities of pending opcodes for job {job_id} have been changed to {priority}"

    async def _reorder(self, job: QueuedJob, priority: int) -> None:
        """Write a waiting job's new priority; a cancel that comes meanwhile is done after it."""
        run = self._runs[job.id] = Run()
        try:
            await self.store.put(with_open_ops(job, lambda op: msgspec.structs.replace(op, priority=priority)))
        finally:
            del self._runs[job.id]
        if run.canceled:
            await self.cancel(job.id, kill=False)
            return
        self._enqueue(self.store.get(job.id) or job)
        self.changes.announce(job.id)
        self.wake()
