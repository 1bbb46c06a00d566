"""The fields under which a job is asked for (Ganeti 3.0 LUXI table, job query fields)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ganeti_tx.errors import ECode, GanetiError, OpPrereqError
from ganeti_tx.model.opcodes import Disclosure, decode, encode_as_sent
from ganeti_tx.queue.files.job_head import JobHead, summary_of
from ganeti_tx.queue.job import QueuedJob


def public_input(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """An opcode as it may be shown: private values masked."""
    try:
        return encode_as_sent(decode(stored), stored, Disclosure.PUBLIC)
    except GanetiError:
        return {"OP_ID": stored.get("OP_ID")}


def summaries(job: QueuedJob | JobHead) -> list[str]:
    """One text an opcode."""
    return job.summaries if isinstance(job, JobHead) else [summary_of(op.input) for op in job.ops]


#: What is known of a job without its opcodes.
HEAD_FIELDS: Mapping[str, Callable[[QueuedJob | JobHead], Any]] = {
    "id": lambda job: job.id,
    "status": lambda job: job.status,
    "priority": lambda job: job.priority,
    "received_ts": lambda job: job.received_timestamp,
    "start_ts": lambda job: job.start_timestamp,
    "end_ts": lambda job: job.end_timestamp,
    "summary": summaries,
}

FIELDS: Mapping[str, Callable[[QueuedJob], Any]] = {
    **HEAD_FIELDS,
    "ops": lambda job: [public_input(op.input) for op in job.ops],
    "opresult": lambda job: [op.result for op in job.ops],
    "opstatus": lambda job: [op.status for op in job.ops],
    "oplog": lambda job: [op.log for op in job.ops],
    "opstart": lambda job: [op.start_timestamp for op in job.ops],
    "opexec": lambda job: [op.exec_timestamp for op in job.ops],
    "opend": lambda job: [op.end_timestamp for op in job.ops],
    "oppriority": lambda job: [op.priority for op in job.ops],
}


#: More fields of a job than this are asked for only to make the answer large.
MAX_FIELDS = 100


def check_count(names: Sequence[str]) -> None:
    """@raise OpPrereqError: more fields are asked for than anybody needs"""
    if len(names) > MAX_FIELDS:
        raise OpPrereqError(f"{len(names)} fields asked for; allowed are {MAX_FIELDS}", ECode.INVAL)


def job_getters(names: Sequence[str]) -> list[Callable[[QueuedJob], Any]]:
    """One function a field. @raise OpPrereqError: a field that no job has, or too many."""
    check_count(names)
    unknown = [name for name in names if name not in FIELDS]
    if unknown:
        raise OpPrereqError(
            f"unknown job field {unknown[0][:100]!r}; a job has {', '.join(sorted(FIELDS))}", ECode.INVAL
        )
    return [FIELDS[name] for name in names]
