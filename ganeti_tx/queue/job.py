"""One job as its file holds it (Ganeti 3.0 job file layout), and what follows from its opcodes' states."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from ganeti_tx.errors import JobFileCorrupted
from ganeti_tx.model.undo import UndoRecord

Timestamp = tuple[int, int]
LogEntry = tuple[int, Timestamp, str, Any]

#: The lower the number, the more urgent (design-2.3, Job priorities).
HIGHEST_PRIORITY, DEFAULT_PRIORITY, LOWEST_PRIORITY = -20, 0, 19
#: What an opcode's own parameter may say (Ganeti 3.0 opcode table).
SUBMIT_PRIORITIES = (-10, 0, 10)
MAX_JOB_FILE = 64 * 1024 * 1024


class Status(StrEnum):
    """The state of an opcode, and of a job."""

    QUEUED = "queued"
    WAITING = "waiting"
    CANCELING = "canceling"
    RUNNING = "running"
    CANCELED = "canceled"
    SUCCESS = "success"
    ERROR = "error"


FINAL = frozenset({Status.CANCELED, Status.SUCCESS, Status.ERROR})


def timestamp(now: float) -> Timestamp:
    """Seconds since the epoch as the job file writes them: seconds and microseconds."""
    seconds, fraction = divmod(round(now * 1_000_000), 1_000_000)
    return seconds, fraction


class QueuedOp(msgspec.Struct, frozen=True, kw_only=True):
    """One opcode of a job. `input` is its stored form (secrets redacted), `result` the encoded error when it failed.

    `undo` is in the file only while there is something that a death of the job's process would leave half done.
    """

    input: dict[str, Any]
    status: Status = Status.QUEUED
    result: Any = None
    log: list[LogEntry] = msgspec.field(default_factory=list)
    priority: int = DEFAULT_PRIORITY
    start_timestamp: Timestamp | None = None
    exec_timestamp: Timestamp | None = None
    end_timestamp: Timestamp | None = None
    undo: UndoRecord | msgspec.UnsetType = msgspec.UNSET


class QueuedJob(msgspec.Struct, frozen=True, kw_only=True):
    """One job. `livelock` names the file that its process holds locked; without one the job was never started."""

    id: int
    ops: list[QueuedOp]
    received_timestamp: Timestamp | None = None
    start_timestamp: Timestamp | None = None
    end_timestamp: Timestamp | None = None
    livelock: str | None = None
    process_id: int | None = None

    @property
    def status(self) -> Status:
        """What the job's opcodes make of it."""
        return status_of([op.status for op in self.ops])

    @property
    def finalized(self) -> bool:
        """Whether nothing will happen to it any more."""
        return self.status in FINAL

    @property
    def begun(self) -> bool:
        """Whether opcodes of it have been done, or tried, already."""
        return any(op.status in FINAL for op in self.ops)

    @property
    def interrupted(self) -> tuple[int, UndoRecord] | None:
        """The opcode that has begun what must be taken back if nobody goes on with it; None without one."""
        for index, op in enumerate(self.ops):
            if isinstance(op.undo, UndoRecord) and op.status not in FINAL:
                return index, op.undo
        return None

    @property
    def priority(self) -> int:
        """That of the first opcode that is still to be done (design-2.3, Job priorities)."""
        return next((op.priority for op in self.ops if op.status not in FINAL), DEFAULT_PRIORITY)

    @property
    def last_serial(self) -> int:
        """The serial number of the newest log entry; 0 without one."""
        return max((entry[0] for op in self.ops for entry in op.log[-1:]), default=0)


def status_of(statuses: Sequence[Status]) -> Status:
    """The first opcode in error, canceling or canceled decides, else the last that waits or runs (Ganeti 3.0 LUXI table)."""
    result = Status.QUEUED
    for status in statuses:
        if status in (Status.ERROR, Status.CANCELING, Status.CANCELED):
            return status
        if status in (Status.WAITING, Status.RUNNING):
            result = status
    if all(status is Status.SUCCESS for status in statuses):
        return Status.SUCCESS
    return result


def with_open_ops(job: QueuedJob, change: Callable[[QueuedOp], QueuedOp]) -> QueuedJob:
    """The job with every opcode that is not final changed."""
    return msgspec.structs.replace(job, ops=[op if op.status in FINAL else change(op) for op in job.ops])


def finished(op: QueuedOp, status: Status, result: Any, at: Timestamp) -> QueuedOp:
    """The opcode at its end."""
    return msgspec.structs.replace(op, status=status, result=result, end_timestamp=at, undo=msgspec.UNSET)


def ended(job: QueuedJob, status: Status, result: Any, now: float) -> QueuedJob:
    """The job brought to an end: every open opcode gets the status and the result."""
    at = timestamp(now)
    closed = with_open_ops(job, lambda op: finished(op, status, result, at))
    return msgspec.structs.replace(closed, end_timestamp=at)


def nothing_half_done(job: QueuedJob) -> bool:
    """Whether no opcode is in the middle of its work: each has ended, or waits and has changed nothing anywhere."""
    return not any(op.status in (Status.RUNNING, Status.CANCELING) for op in job.ops)


def put_back(job: QueuedJob) -> QueuedJob:
    """The job as it waits in the queue: no process has it, and what has ended stays as it ended."""
    fresh = with_open_ops(job, lambda op: msgspec.structs.replace(op, status=Status.QUEUED, start_timestamp=None))
    start = job.start_timestamp if job.begun else None
    return msgspec.structs.replace(fresh, livelock=None, process_id=None, start_timestamp=start)


def handed_over(job: QueuedJob, livelock: str, process_id: int, now: float) -> QueuedJob:
    """The job as its process finds it: the livelock in it, its next opcode waiting."""
    at = timestamp(now)
    ops = list(job.ops)
    following = next(index for index, op in enumerate(ops) if op.status not in FINAL)
    ops[following] = msgspec.structs.replace(ops[following], status=Status.WAITING, start_timestamp=at)
    start = job.start_timestamp or at
    return msgspec.structs.replace(job, ops=ops, start_timestamp=start, livelock=livelock, process_id=process_id)


def handed_to_undo(job: QueuedJob, livelock: str, process_id: int, cause: str, killed: bool) -> QueuedJob:
    """An interrupted job as the process finds it that takes back what was begun. @param cause: of the first interruption."""
    job = with_cause(job, cause, killed, 1)
    return msgspec.structs.replace(job, livelock=livelock, process_id=process_id)


def with_cause(job: QueuedJob, cause: str, killed: bool = False, tries: int = 0) -> QueuedJob:
    """An interrupted job whose file says by what; what it says already stays."""
    assert job.interrupted is not None
    index, record = job.interrupted
    changed = msgspec.structs.replace(
        record, cause=record.cause or cause, killed=record.killed or killed, tries=record.tries + tries
    )
    ops = list(job.ops)
    ops[index] = msgspec.structs.replace(ops[index], undo=changed)
    return msgspec.structs.replace(job, ops=ops)


def with_priority(job: QueuedJob, priority: int) -> QueuedJob:
    """The job with another priority for what has not run yet, from which failed tries count anew."""
    return with_open_ops(
        job, lambda op: op if op.status in (Status.RUNNING, Status.CANCELING) else reprioritized(op, priority)
    )


def has_priority(job: QueuedJob, priority: int) -> bool:
    """Whether what has not run yet has been given this priority, from which it may have become more urgent by itself."""
    given = [(op, reprioritized(op, priority)) for op in job.ops if op.status not in FINAL]
    return all(op.input == changed.input and op.priority <= changed.priority for op, changed in given)


def reprioritized(op: QueuedOp, priority: int) -> QueuedOp:
    """The opcode with a new priority, and with a submitted one that is nearest to it of those not less urgent."""
    base = max((each for each in SUBMIT_PRIORITIES if each <= priority), default=min(SUBMIT_PRIORITIES))
    return msgspec.structs.replace(op, priority=priority, input={**op.input, "priority": base})


def submitted_priority(op: QueuedOp) -> int:
    """The priority that the opcode had before its first try to get its locks."""
    return max(int(op.input.get("priority") or DEFAULT_PRIORITY), op.priority)


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(QueuedJob)


#: Keys that a job file lacks before the job's process starts.
_STARTED_KEYS = ("livelock", "process_id")


def encode_job(job: QueuedJob) -> bytes:
    """The job file's bytes."""
    if job.livelock is not None:
        return _encoder.encode(job)
    document = msgspec.structs.asdict(job)
    for key in _STARTED_KEYS:
        del document[key]
    return _encoder.encode(document)


def decode_job(data: bytes) -> QueuedJob:
    """@raise JobFileCorrupted: it is not a job file; the text says where."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise JobFileCorrupted(f"not a job file: {error}")
