"""From the opcodes that a client sends to a job as it is stored."""

from collections.abc import Sequence

from ganeti_tx.errors import JobQueueError
from ganeti_tx.model.opcodes import Disclosure, OpCode, encode
from ganeti_tx.queue.dependencies import absolute
from ganeti_tx.queue.job import QueuedJob, QueuedOp, timestamp

#: More jobs than this may not wait and run at a time.
MAX_OPEN_JOBS = 200_000
#: One job holds no more opcodes than this.
MAX_OPS = 1000


def check_limits(jobs: Sequence[Sequence[OpCode]], present: int) -> None:
    """@raise JobQueueError: too many jobs or opcodes."""
    if present + len(jobs) > MAX_OPEN_JOBS:
        raise JobQueueError(f"the queue is full: {MAX_OPEN_JOBS} jobs; archive some (gnt-job autoarchive)")
    if any(len(ops) > MAX_OPS for ops in jobs):
        raise JobQueueError(f"a job holds at most {MAX_OPS} opcodes")


def new_job(job_id: int, ops: Sequence[OpCode], received: float) -> QueuedJob:
    """The job as its file begins. @raise OpPrereqError: it depends on a job that cannot be."""
    queued = [_new_op(job_id, index, op, received) for index, op in enumerate(ops)]
    return QueuedJob(id=job_id, ops=queued, received_timestamp=timestamp(received))


def _new_op(job_id: int, index: int, op: OpCode, received: float) -> QueuedOp:
    stored = encode(op, Disclosure.STORED)
    name = str(stored["OP_ID"]).removeprefix("OP_").lower()
    nanoseconds = round(received * 1e9)
    stored["reason"] = [*stored["reason"], [f"gnt:opcode:{name}", f"job={job_id};index={index}", nanoseconds]]
    if op.depends:
        stored["depends"] = absolute(op.depends, job_id)
    return QueuedOp(input=stored, priority=op.priority)
