"""From the opcodes that a client sends to a job as it is stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.errors import GanetiError, JobQueueError, JobQueueFull
from ganeti_tx.model.opcodes import Disclosure, OpCode, encode_as_sent, stored_size
from ganeti_tx.queue.dependencies import Submitted, absolute
from ganeti_tx.queue.job import QueuedJob, QueuedOp, timestamp

#: More jobs than this may not wait and run at a time.
MAX_OPEN_JOBS = 200_000
#: Bytes that the opcodes of one job may take as they are stored; its file is written anew with each step of the job.
MAX_OPS_SIZE = 8 * 1024 * 1024

#: The opcodes of a job as a client sent them, in the same order as those that were read from them.
Sent = Sequence[Mapping[str, Any]]


def check_limits(added: int, present: int, most: int) -> None:
    """@param present: the jobs that wait or run. @raise JobQueueFull: with those added there would be too many."""
    if present + added > most:
        raise JobQueueFull


def bounded(ops: Submitted) -> Submitted:
    """The job, or why it is refused for its size."""
    if isinstance(ops, GanetiError):
        return ops
    size = sum(map(stored_size, ops))
    if size <= MAX_OPS_SIZE:
        return ops
    return JobQueueError(f"the job is too large: its {len(ops)} opcodes take {size} bytes; allowed are {MAX_OPS_SIZE}")


def new_job(job_id: int, ops: Sequence[OpCode], received: float, sent: Sent | None = None) -> QueuedJob:
    """The job as its file begins, its opcodes as they were `sent`. @raise OpPrereqError: it depends on a job that cannot be."""
    spelled: Sequence[Mapping[str, Any]] = sent or [{}] * len(ops)
    queued = [
        _new_op(job_id, index, op, wire, received) for index, (op, wire) in enumerate(zip(ops, spelled, strict=True))
    ]
    return QueuedJob(id=job_id, ops=queued, received_timestamp=timestamp(received))


def _new_op(job_id: int, index: int, op: OpCode, sent: Mapping[str, Any], received: float) -> QueuedOp:
    stored = encode_as_sent(op, sent, Disclosure.STORED)
    name = str(stored["OP_ID"]).removeprefix("OP_").lower()
    nanoseconds = round(received * 1e9)
    stored["reason"] = [*stored["reason"], [f"gnt:opcode:{name}", f"job={job_id};index={index}", nanoseconds]]
    if op.depends:
        stored["depends"] = absolute(op.depends, job_id)
    return QueuedOp(input=stored, priority=op.priority)
