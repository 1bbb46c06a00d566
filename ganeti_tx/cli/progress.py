"""Following one job to its end: what it says, what it waits for, what came of it."""

import time
from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.session import Session
from ganeti_tx.cli.step_text import STEP, step_text
from ganeti_tx.errors import GanetiError, JobCanceled, JobLost, LuxiError, OpExecError, decode_error

FINAL = frozenset({"canceled", "error", "success"})
#: Seconds of one wait; the first is short, so that whoever looks on soon reads why nothing moves.
_FIRST_WAIT = 5
_WAIT = 60
#: A master that is being restarted is asked again so often, each time five seconds later.
_TRIES = 15
_PAUSE = 5.0
_STALLED = {
    "queued": "Job {} is waiting in the queue",
    "waiting": "Job {} is trying to acquire all necessary locks",
}


def follow(
    session: Session, job_id: int, *, quiet: bool = False, steps: bool = False, goes_on: bool = True
) -> list[Any]:
    """Print what the job says, unless quiet, until it ends; the results of its opcodes.

    @raise GanetiError: the job's own error, or it was cancelled or lost.
    @param steps: whether the steps of its work are printed, too, which Ganeti's commands do not know.
    @param goes_on: whether the job does when the operator leaves, who is told so.
    @raise KeyboardInterrupt: the operator left.
    """
    try:
        _watch(session, job_id, quiet, steps)
    except KeyboardInterrupt:
        if goes_on:
            session.warn(
                f"\nJob {job_id} keeps running: 'gnt-job watch {job_id}' shows it, 'gnt-job cancel {job_id}' stops it"
            )
        raise
    return results(session, job_id)


def _watch(session: Session, job_id: int, quiet: bool, steps: bool) -> None:
    previous: list[Any] | None = None
    serial: int | None = None
    stalled: set[str] = set()
    while True:
        answer = _next_change(session, job_id, previous, serial, _WAIT if stalled else _FIRST_WAIT)
        info, entries = ([None], []) if answer is None else answer
        for entry in entries:
            serial = max(serial or 0, entry[0])
            for line in () if quiet or (entry[2] == STEP and not steps) else log_lines(entry):
                session.print(line)
        unchanged = answer is None or (info == previous and not entries)
        if unchanged and previous is not None:
            _say_why(session, job_id, previous[0], stalled)
            continue
        if info[0] is None:
            raise JobLost(f"Job {job_id} has disappeared from the queue")
        if info[0] in FINAL:
            return
        previous = info


def _next_change(session: Session, job_id: int, previous: list[Any] | None, serial: int | None, wait: int) -> Any:
    """The server's next answer, None for its word that nothing changed; a restarting master is waited for."""
    for attempt in range(1, _TRIES + 1):
        try:
            answer = session.client.wait_for_job_change(job_id, ["status"], previous, serial, wait)
            return None if answer == "nochange" else answer
        except LuxiError as error:
            if type(error) is LuxiError or attempt == _TRIES:
                raise
            session.warn(f"Lost the master daemon, trying again in {_PAUSE * attempt:.0f} seconds: {error}")
            session.sleep(_PAUSE * attempt)
    raise AssertionError("the last attempt returns or raises")


def _say_why(session: Session, job_id: int, status: str, stalled: set[str]) -> None:
    if status in _STALLED and status not in stalled and session.shows_to_person:
        session.warn(_STALLED[status].format(job_id))
    stalled.add(status)


def log_lines(entry: Sequence[Any]) -> list[str]:
    """A log entry [serial, [seconds, microseconds], type, message] as lines with its time."""
    _serial, stamp, kind, message = entry
    when = time.ctime(stamp[0] + stamp[1] / 1e6)
    if kind == STEP:
        return [f"{when} {step_text(message)}"]
    texts = message if kind == "message-list" and isinstance(message, list) else [message]
    return [f"{when} {text}" for text in texts]


def results(session: Session, job_id: int) -> list[Any]:
    """The results of an ended job's opcodes. @raise GanetiError: it did not succeed."""
    row = session.client.query_jobs([job_id], ["status", "opstatus", "opresult"])[0]
    status, op_statuses, op_results = row
    if status == "success":
        return list(op_results)
    if status is None:
        raise JobLost(f"Job {job_id} has disappeared from the queue")
    if status in ("canceled", "canceling"):
        why = next((f": {text}" for text in op_results[op_statuses.count("success") :] if isinstance(text, str)), "")
        raise JobCanceled(f"Job {job_id} was canceled before it had ended{why}")
    raise _failure(job_id, op_statuses, op_results)


def _failure(job_id: int, statuses: Sequence[str], op_results: Sequence[Any]) -> GanetiError:
    """The error of the first opcode that failed."""
    for index, (status, result) in enumerate(zip(statuses, op_results, strict=True)):
        if status != "error":
            continue
        error = OpExecError(result) if isinstance(result, str) else decode_error(result)
        if "success" in statuses:
            return OpExecError(f"partial failure (opcode {index + 1} of {len(statuses)}): {error}")
        return error
    return OpExecError(f"Job {job_id} failed without saying why")
