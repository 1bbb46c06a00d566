"""The job's own hand on its file: states, log entries, results; written here at once, copied to the candidates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from attrs import define, field
from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.errors import GanetiError, error_text
from ganeti_tx.queue.files.store import Replicate
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status, encode_job, finished, timestamp
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.files_retry import in_place, until_written

log = Logger()

FILE_MODE = 0o640
#: Seconds for which copies of a job that goes on wait for more to change; its start was copied by luxid before it.
COPY_DELAY = 0.1
#: Seconds for which a log entry that nobody waits for, such as the begin of a step, waits for more to change.
LOG_DELAY = 0.1
#: Seconds until what the disk refused is offered again, when nothing else is written before.
REPAIR_DELAY = 5.0
#: Seconds for which the end of a job is held in memory, and offered to the disk, before it is lost with this process.
END_TIMEOUT = 86400.0


def indented(payload: Any) -> Any:
    """What a unit says besides what it does stands a little to the right, which clients print as they get it."""
    return f" {payload}" if isinstance(payload, str) and payload.startswith("- ") else payload


@define
class Journal:
    """One running job and its file. A write under way takes along what changed meanwhile, so that nobody waits twice."""

    job: QueuedJob
    path: Path
    files: IFiles
    replicate: Replicate
    now: Callable[[], float]
    clock: IReactorTime
    _writing: bool = False
    _dirty: bool = False
    _waiting: list[Deferred[None]] = field(factory=list)
    _copying: list[Deferred[None]] = field(factory=list)
    _written: bytes = b""
    _copy_due: IDelayedCall | None = None
    _repair: IDelayedCall | None = None
    _log_due: IDelayedCall | None = None

    def change_op(self, index: int, **changes: Any) -> None:
        """Change one opcode in memory; `save` makes it count."""
        ops = list(self.job.ops)
        ops[index] = msgspec.structs.replace(ops[index], **changes)
        self.job = msgspec.structs.replace(self.job, ops=ops)

    def finish_op(self, index: int, status: Status, result: Any) -> None:
        """Bring one opcode to its end in memory."""
        ops = list(self.job.ops)
        ops[index] = finished(ops[index], status, result, timestamp(self.now()))
        self.job = msgspec.structs.replace(self.job, ops=ops)

    def op(self, index: int) -> QueuedOp:
        """One opcode as it is now."""
        return self.job.ops[index]

    def add_log(self, index: int, kind: str, payload: Any, *, at_once: bool = True) -> None:
        """Add a log entry to an opcode and have it written, at once or with what else changes within LOG_DELAY."""
        entry = (self.job.last_serial + 1, timestamp(self.now()), kind, indented(payload))
        self.change_op(index, log=[*self.op(index).log, entry])
        if at_once:
            self._attempt_soon()
        elif self._log_due is None:
            self._log_due = self.clock.callLater(LOG_DELAY, self._write_log)

    def _write_log(self) -> None:
        self._log_due = None
        self._try_again_now()

    def _attempt_soon(self) -> None:
        trying = Deferred.fromCoroutine(self.attempt())
        trying.addErrback(lambda failure: log.failure("the job's file could not be written", failure))

    async def attempt(self) -> None:
        """Save; what cannot be written now is written later, with what is saved next or by itself."""
        try:
            await self.save()
        except OSError as error:
            log.error("cannot write {reason}; it is tried again", reason=reason(error))
            if self._repair is None:
                self._repair = self.clock.callLater(REPAIR_DELAY, self._try_again)

    def _try_again(self) -> None:
        self._repair = None
        self._try_again_now()

    def _try_again_now(self) -> None:
        if not self.job.finalized and self.job.livelock is not None:  # else its end is being written, or it is not ours
            self._attempt_soon()

    async def insist(self) -> None:
        """Save what must not be lost: try until the disk takes it. @raise OSError: it never did (END_TIMEOUT)."""
        await until_written(self.save, self.clock, END_TIMEOUT)

    def save(self) -> Deferred[None]:
        """Fires when the present state is on this disk. Fails with OSError; with another error for what no file can hold."""
        done: Deferred[None] = Deferred()
        self._waiting.append(done)
        self._dirty = True
        if not self._writing:
            self._writing = True
            Deferred.fromCoroutine(self._write()).addErrback(
                lambda failure: log.failure("the job's file could not be written", failure)
            )
        return done

    @property
    def _about_to_end(self) -> bool:
        """The outcome is clear but locks are still held: nobody shall read of it before the job is over."""
        return self.job.finalized and self.job.end_timestamp is None

    async def _write(self) -> None:
        try:
            while self._dirty and not self._about_to_end:
                self._dirty = False
                waiting, self._waiting = self._waiting, []
                job = self.job
                try:
                    data = encode_job(job)
                    await in_place(self.files.write_atomic(self.path, data, FILE_MODE))
                except (OSError, TypeError, ValueError, RecursionError) as error:
                    for waiter in waiting:
                        waiter.errback(error)
                    continue
                self._written = data
                if self._log_due is not None and self.job is job:
                    self._log_due.cancel()
                    self._log_due = None
                if self._repair is not None:
                    self._repair.cancel()
                    self._repair = None
                self._copy_in_time()
                for waiter in waiting:
                    waiter.callback(None)
        finally:
            self._writing = False

    def _copy_in_time(self) -> None:
        """The end is copied at once; what comes before it soon, together with what follows meanwhile."""
        if self.job.end_timestamp is not None:
            self._copy()
        elif self._copy_due is None:
            self._copy_due = self.clock.callLater(COPY_DELAY, self._copy)

    def _copy(self) -> None:
        if self._copy_due is not None and self._copy_due.active():
            self._copy_due.cancel()
        self._copy_due = None
        copy = Deferred.fromCoroutine(self._replicate(self._written))
        self._copying.append(copy)
        copy.addErrback(self._not_copied)

        def done(result: None) -> None:
            self._copying.remove(copy)

        copy.addCallback(done)

    def _not_copied(self, failure: Failure) -> None:
        """luxid compares the copies later."""
        if isinstance(failure.value, (GanetiError, OSError)):
            log.error("job {job_id} was not copied: {error}", job_id=self.job.id, error=error_text(failure.value))
        else:
            log.failure("the job's file could not be copied", failure)

    async def _replicate(self, data: bytes) -> None:
        await self.replicate({f"job-{self.job.id}": data})

    async def copied(self) -> None:
        """Returns when every candidate has, or has refused, what was saved so far."""
        if self._copy_due is not None:
            self._copy()
        if self._copying:
            await DeferredList(list(self._copying))
