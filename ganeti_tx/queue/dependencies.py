"""Jobs that wait for other jobs (opcode parameter `depends`)."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import attrs

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.queue.job import QueuedJob, Status


class Verdict(Enum):
    """What its dependencies say of a job."""

    READY = "ready"
    WAIT = "wait"
    CANCEL = "cancel"
    FAIL = "fail"


@attrs.frozen
class Finding:
    """A verdict with the job that it comes from."""

    verdict: Verdict
    job_id: int = 0
    reason: str = ""


READY = Finding(Verdict.READY)


def absolute(depends: Sequence[tuple[int, Sequence[str]]], job_id: int) -> list[list[Any]]:
    """Turn ids relative to this job (-1: the one before it) into absolute ones. @raise OpPrereqError: no such job can be."""
    result: list[list[Any]] = []
    for other, statuses in depends:
        resolved = job_id + other if other < 0 else other
        if not 0 < resolved < job_id:
            raise OpPrereqError(f"job {job_id} cannot depend on job {other}: only on an earlier one", ECode.INVAL)
        result.append([resolved, list(statuses)])
    return result


def examine(job: QueuedJob, status_of: Callable[[int], Status | None]) -> Finding:
    """Whether the job may start; `status_of` gives None for a job that nobody knows any more."""
    for op in job.ops:
        for other, wanted in op.input.get("depends") or ():
            finding = _examine_one(other, wanted or [Status.SUCCESS], status_of(other))
            if finding.verdict is not Verdict.READY:
                return finding
    return READY


def _examine_one(other: int, wanted: Sequence[str], status: Status | None) -> Finding:
    if status is None:
        return Finding(Verdict.FAIL, other, f"depends on job {other}, which is not in the queue or its archive")
    if status in wanted:
        return READY
    if status is Status.CANCELED:
        return Finding(Verdict.CANCEL, other, f"depends on job {other}, which was canceled")
    if status in (Status.SUCCESS, Status.ERROR):
        return Finding(
            Verdict.FAIL, other, f"depends on job {other} to end as {' or '.join(wanted)}; it ended as {status}"
        )
    return Finding(Verdict.WAIT, other)
