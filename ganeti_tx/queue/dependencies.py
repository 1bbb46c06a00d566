"""Jobs that wait for other jobs (opcode parameter `depends`)."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import attrs
import msgspec

from ganeti_tx.errors import ECode, GanetiError, OpPrereqError
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.queue.job import QueuedJob, Status


class DependencyState(Enum):
    """What its dependencies say of a job."""

    READY = "ready"
    WAIT = "wait"
    CANCEL = "cancel"
    FAIL = "fail"


@attrs.frozen
class Finding:
    """A state with the job that it comes from."""

    state: DependencyState
    job_id: int = 0
    reason: str = ""


READY = Finding(DependencyState.READY)


def absolute(depends: Sequence[tuple[int, Sequence[str]]], job_id: int) -> list[list[Any]]:
    """Turn ids relative to this job (-1: the one before it) into absolute ones. @raise OpPrereqError: no such job can be."""
    result: list[list[Any]] = []
    for other, statuses in depends:
        resolved = job_id + other if other < 0 else other
        if not 0 < resolved < job_id:
            raise OpPrereqError(f"job {job_id} cannot depend on job {other}: only on an earlier one", ECode.INVAL)
        result.append([resolved, list(statuses)])
    return result


#: A job to be stored, or why it was refused.
Submitted = Sequence[OpCode] | GanetiError


def settle(jobs: Sequence[Submitted], last_id: int, is_known: Callable[[int], bool]) -> list[Submitted]:
    """The jobs of one submission, those refused whose dependencies cannot be; relative ids count only those that are taken."""
    settled: list[Submitted] = []
    taken = [0]
    for ops in jobs:
        if not isinstance(ops, GanetiError):
            try:
                ops = [_settle_op(op, taken, last_id, is_known) for op in ops]
            except OpPrereqError as error:
                ops = error
        settled.append(ops)
        taken.append(taken[-1] + (not isinstance(ops, GanetiError)))
    return settled


def _settle_op(op: OpCode, taken: Sequence[int], last_id: int, is_known: Callable[[int], bool]) -> OpCode:
    if not op.depends:
        return op
    depends = tuple((_settle_id(other, taken, last_id, is_known), statuses) for other, statuses in op.depends)
    return msgspec.structs.replace(op, depends=depends)


def _settle_id(other: int, taken: Sequence[int], last_id: int, is_known: Callable[[int], bool]) -> int:
    """@param taken: how many of the first none, one, two, ... jobs of this submission are not refused, up to those before.

    @raise OpPrereqError: no job can depend on that one.
    """
    position = len(taken) - 1 + other
    if other < 0 <= position:
        if taken[position + 1] == taken[position]:
            raise OpPrereqError(f"it depends on job {other} of this submission, which was refused", ECode.INVAL)
        return taken[position] - taken[-1]
    if other == 0:
        raise OpPrereqError("a job cannot depend on itself (job 0), only on an earlier one", ECode.INVAL)
    resolved = other if other > 0 else last_id + 1 + position
    if resolved > last_id:
        raise OpPrereqError(
            f"a job cannot depend on job {other}, which is not there yet, only on an earlier one", ECode.INVAL
        )
    if resolved < 1 or not is_known(resolved):
        raise OpPrereqError(f"cannot depend on job {other}: it is neither in the queue nor in its archive", ECode.NOENT)
    return resolved


def examine(job: QueuedJob, status_of: Callable[[int], Status | None]) -> Finding:
    """Whether the job may start; `status_of` gives None for a job that nobody knows any more."""
    for op in job.ops:
        for other, wanted in op.input.get("depends") or ():
            finding = _examine_one(other, wanted or [Status.SUCCESS], status_of(other))
            if finding.state is not DependencyState.READY:
                return finding
    return READY


def _examine_one(other: int, wanted: Sequence[str], status: Status | None) -> Finding:
    if status is None:
        return Finding(DependencyState.FAIL, other, f"depends on job {other}, which is not in the queue or its archive")
    if status in wanted:
        return READY
    if status is Status.CANCELED:
        return Finding(DependencyState.CANCEL, other, f"depends on job {other}, which was canceled")
    if status in (Status.SUCCESS, Status.ERROR):
        return Finding(
            DependencyState.FAIL, other, f"depends on job {other} to end as {' or '.join(wanted)}; it ended as {status}"
        )
    return Finding(DependencyState.WAIT, other)
