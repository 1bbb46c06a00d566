"""What is counted of jobs: how each ended and how long it took, and what the queue looks like now."""

from collections import Counter
from collections.abc import Collection

from ganeti_tx.metrics.jobs import ENDED, JOBS, OLDEST, RUN, SEVERAL, WAIT
from ganeti_tx.metrics.locks import LONGEST_WAIT
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.opcodes import OPCODES
from ganeti_tx.queue.files.job_head import JobHead
from ganeti_tx.queue.files.loading import LiveJob
from ganeti_tx.queue.job import QueuedJob, Status, Timestamp

#: Jobs of these statuses are waited for by somebody, so their age matters.
OPEN = (Status.QUEUED, Status.WAITING, Status.RUNNING, Status.CANCELING)
UNKNOWN = "unknown"


def count_end(tally: Tally, job: JobHead) -> None:
    """A job has ended."""
    opcode = opcode_of(job)
    tally.count(ENDED, opcode, job.status.value)
    received, started, ended = (seconds(at) for at in (job.received_timestamp, job.start_timestamp, job.end_timestamp))
    if started is not None and received is not None:
        tally.observe(WAIT, started - received, opcode)
    if ended is not None and started is not None:
        tally.observe(RUN, ended - started, opcode)


def opcode_of(job: JobHead) -> str:
    """The opcode that all opcodes of a job are, as in "INSTANCE_REBOOT"; only names of the opcode table come out."""
    names = {summary.partition("(")[0] for summary in job.summaries}
    if len(names) != 1:
        return SEVERAL
    (name,) = names
    return name if f"OP_{name}" in OPCODES else UNKNOWN


def describe_queue(tally: Tally, jobs: Collection[LiveJob], now: float) -> None:
    """How many jobs there are, and how old the oldest of the open ones is."""
    counts = Counter(dict.fromkeys(Status, 0))
    oldest: dict[Status, float] = {}
    for job in jobs:
        status = job.status
        counts[status] += 1
        if status in OPEN and (received := seconds(job.received_timestamp)) is not None:
            oldest[status] = min(received, oldest.get(status, received))
    waiting = [
        now - since
        for job in jobs
        if isinstance(job, QueuedJob)
        for op in job.ops
        if op.status is Status.WAITING and (since := seconds(op.start_timestamp)) is not None
    ]
    tally.set(LONGEST_WAIT, max([0.0, *waiting]))
    for status, count in counts.items():
        tally.set(JOBS, count, status.value)
    for status in OPEN:
        tally.set(OLDEST, max(now - oldest.get(status, now), 0.0), status.value)


def seconds(at: Timestamp | None) -> float | None:
    """Since the epoch."""
    return None if at is None else at[0] + at[1] / 1_000_000
