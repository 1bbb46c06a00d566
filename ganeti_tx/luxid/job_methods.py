"""LUXI's methods about jobs."""

from collections.abc import AsyncIterator, Container, Mapping, Sequence
from typing import Any

from attrs import define
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import ECode, GanetiError, GenericError, OpCodeUnknown, OpPrereqError
from ganeti_tx.luxi.long_answers import encode_elements
from ganeti_tx.luxid.dispatch import Answer
from ganeti_tx.luxid.job_rows import JobRows
from ganeti_tx.model.opcodes import OpCode, decode
from ganeti_tx.query.jobs import AT_A_TIME, JobRef
from ganeti_tx.queue.archiving import Archiving
from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.fields import HEAD_FIELDS, check_count, job_getters
from ganeti_tx.queue.files.drain import DrainFlag
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.scheduler import Scheduler

HIGHEST_PRIORITY, LOWEST_PRIORITY = -20, 19
#: Seconds for which the archiving of a job waits for the copies of its end.
COPIES_LIMIT = 30.0
#: Seconds for which the answer to a kill waits for the process's death.
KILL_LIMIT = 10.0


@define
class JobMethods:
    """Submission, waiting, cancelling, archiving. Opcodes that are not `built` are refused."""

    scheduler: Scheduler
    store: JobStore
    rows: JobRows
    changes: JobChanges
    drain: DrainFlag
    clock: IReactorTime
    archiving: Archiving
    built: Container[type[OpCode]]

    def table(self) -> Mapping[str, Answer]:
        """Which method is which call."""
        return {
            "SubmitJob": self.submit,
            "SubmitJobToDrainedQueue": self.submit_to_drained,
            "SubmitManyJobs": self.submit_many,
            "WaitForJobChange": self.wait,
            "CancelJob": self.cancel,
            "ChangeJobPriority": self.change_priority,
            "ArchiveJob": self.archive,
            "AutoArchiveJobs": self.auto_archive,
            "QueryJobs": self.query,
            "SetDrainFlag": self.drain.set,
            "WithdrawCaller": self.scheduler.withdrawn.withdraw,
        }

    async def submit(self, ops: Sequence[Any]) -> int:
        """Store one job; its id."""
        self._refuse_when_drained()
        return await self.submit_to_drained(ops)

    async def submit_to_drained(self, ops: Sequence[Any]) -> int:
        """Store one job although the queue is drained."""
        (job_id,) = await self.scheduler.submit([self._decode(ops)], [ops])
        return job_id

    async def submit_many(self, jobs: Sequence[Sequence[Any]]) -> list[tuple[bool, Any]]:
        """Store many jobs in one stroke; for each its id, or why it was refused.

        @raise GanetiError: what is in one of them is no opcode, or has wrong parameters; then none is stored (the packaged
            daemon cannot read such a request).
        """
        self._refuse_when_drained()
        decoded = [decode_all(ops) for ops in jobs]
        answers = await self.scheduler.submit_each([self._lacking(ops) or ops for ops in decoded], jobs)
        return [(False, str(each)) if isinstance(each, GanetiError) else (True, each) for each in answers]

    def _decode(self, ops: Sequence[Any]) -> list[OpCode]:
        decoded = decode_all(ops)
        if lacking := self._lacking(decoded):
            raise lacking
        return decoded

    def _lacking(self, ops: Sequence[OpCode]) -> OpCodeUnknown | None:
        """Why a job cannot be done here."""
        for op in ops:
            if type(op) not in self.built:
                return OpCodeUnknown(f"{op.op_id()} is not available in this version; the job is not submitted")
        return None

    def _refuse_when_drained(self) -> None:
        if self.drain.is_set():
            raise GenericError("Queue drained: no jobs are taken; undrain it with 'gnt-cluster queue undrain'")

    async def wait(
        self, job_id: int, fields: Sequence[str], previous: Any, previous_serial: int | None, timeout: int
    ) -> tuple[list[Any], list[Any]]:
        """As JobChanges.wait says."""
        return await self.changes.wait(job_id, fields, previous, previous_serial, timeout)

    async def cancel(self, job_id: int, kill: bool = False) -> tuple[bool, str]:
        """As Scheduler.cancel says; a killed job's end is in its file, unless its process does not die in time."""
        done, message = await self.scheduler.cancel(job_id, kill)
        if done and kill:
            await self._until_over(job_id, KILL_LIMIT)
        return done, message

    async def _until_over(self, job_id: int, limit: float) -> bool:
        """Wait until no process is busy with a job; false when the time is over first."""
        over = Deferred.fromCoroutine(self.scheduler.when_over(job_id))
        try:
            await over.addTimeout(limit, self.clock)
        except TimeoutError:
            return False
        return True

    async def change_priority(self, job_id: int, priority: int) -> tuple[bool, str]:
        """As Scheduler.change_priority says."""
        if not HIGHEST_PRIORITY <= priority <= LOWEST_PRIORITY:
            allowed = f"{HIGHEST_PRIORITY} to {LOWEST_PRIORITY}"
            raise OpPrereqError(f"invalid priority {priority}; allowed are {allowed}", ECode.INVAL)
        return await self.scheduler.change_priority(job_id, priority)

    async def archive(self, job_id: int) -> bool:
        """Archive a finished job; false when there is none.

        One that has just ended is waited for: its process still copies its file to the candidates.
        """
        found = self.store.glance(job_id)
        if found is not None and found.finalized and not await self._until_over(job_id, COPIES_LIMIT):
            return False
        return await self.store.archive([job_id]) == 1

    async def auto_archive(self, age: int, timeout: int) -> tuple[int, int]:
        """Archive finished jobs that ended `age` seconds ago or earlier (-1: all), for `timeout` seconds.

        Gives how many were archived and how many were not looked at.
        """
        return await self.archiving.archive(age, timeout)

    async def query(self, job_ids: Sequence[int] | None, fields: Sequence[str]) -> list[Any]:
        """A row a job, by ids or as asked; one that is not there has its id and nulls.

        Without ids (none, or an empty list) it is all jobs, the archived ones only when it is asked who is archived.
        """
        check_count(fields)
        job_getters([name for name in fields if name != "archived"])
        whole = not set(fields) <= {*HEAD_FIELDS, "archived"}
        refs = await self.rows.find(job_ids or None, "archived" in fields)
        if not job_ids:
            return [
                item async for rows in self._rows(refs, fields, whole) for item in encode_elements([*rows.values()])
            ]
        found: dict[int, list[Any]] = {}
        async for rows in self._rows(refs, fields, whole):
            found |= rows
        return [found.get(job_id) or missing(job_id, fields) for job_id in job_ids]

    async def _rows(
        self, refs: Sequence[JobRef], fields: Sequence[str], whole: bool
    ) -> AsyncIterator[dict[int, list[Any]]]:
        """Some jobs at a time: their fields by id."""
        for start in range(0, len(refs), AT_A_TIME):
            part = refs[start : start + AT_A_TIME]
            loaded = await self.rows.load(part, whole)
            yield {ref.id: [loaded[ref.id][name] for name in fields] for ref in part if ref.id in loaded}


def missing(job_id: int, fields: Sequence[str]) -> list[Any]:
    """The fields of a job that is not there."""
    return [job_id if name == "id" else None for name in fields]


def decode_all(ops: Sequence[Any]) -> list[OpCode]:
    """A job's opcodes from what a client sent. @raise GanetiError: one is none, or has wrong parameters."""
    return [decode(op, strict_wire=True) for op in ops]
