"""Following one job to its end: what it says, what it waits for, what came of it."""

import time
from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.job_state import FIELDS, PLAIN_FIELDS, JobState
from ganeti_tx.cli.patience import PATIENCE
from ganeti_tx.cli.session import Session, not_the_master
from ganeti_tx.cli.step_text import STEP, step_text
from ganeti_tx.errors import GanetiError, JobCanceled, JobLost, LuxiError, OpExecError, decode_error
from ganeti_tx.luxi.transport_errors import NoMasterError

FINAL = frozenset({"canceled", "error", "success"})
#: The filter for jobs that have not ended.
GOES_ON = ["!", ["|", *(["==", "status", status] for status in sorted(FINAL))]]
#: Seconds of one wait; the first is short, so that whoever looks on soon reads why nothing moves.
_FIRST_WAIT = 5
_WAIT = 60
#: Seconds after which the line about how far a job is is written anew.
_LIVE_WAIT = 1
#: A master that is being restarted is asked again, each time so many seconds later than the last time.
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
    watched = Watched(session, job_id, quiet=quiet, steps=steps)
    try:
        while watched.status not in FINAL:
            watched.look(watched.wait)
    finally:
        session.clear_status()


class Watched:
    """A job that is looked at again and again; whoever sits at a terminal sees between its messages how far it is."""

    def __init__(
        self, session: Session, job_id: int, *, quiet: bool = False, steps: bool = False, ahead: str = ""
    ) -> None:
        """@param ahead: what stands ahead of each line, as there are other jobs; then how far it is is told by `state` alone."""
        self._session = session
        self._id = job_id
        self._quiet = quiet
        self._steps = steps
        self._ahead = ahead
        self._live = JobState(job_id) if session.shows_status and not quiet else None
        self._previous: list[Any] | None = None
        self._serial: int | None = None
        self._stalled: set[str] = set()

    @property
    def status(self) -> str | None:
        """The last one that was seen."""
        return None if self._previous is None else self._previous[0]

    @property
    def state(self) -> JobState | None:
        """How far it is, where somebody looks on."""
        return self._live

    @property
    def wait(self) -> int:
        """Seconds that the master may take to tell of a change."""
        if self._live is not None:
            return _LIVE_WAIT
        return _WAIT if self._stalled else _FIRST_WAIT

    def look(self, wait: int) -> None:
        """Print what is new, after so many seconds at most. @raise JobLost: it is not there, or not any longer."""
        fields = PLAIN_FIELDS if self._live is None else FIELDS
        answer = _next_change(self._session, self._id, fields, self._previous, self._serial, wait)
        info, entries = (self._previous or [None], []) if answer is None else answer
        self._show(info, entries)
        if (answer is None or (info == self._previous and not entries)) and self._previous is not None:
            if self._live is None and wait:
                _say_why(self._session, self._id, str(self.status), self._stalled)
            return
        if info[0] is None:
            raise JobLost(f"Job {self._id} has disappeared from the queue")
        self._previous = info

    def _show(self, info: list[Any], entries: Sequence[Sequence[Any]]) -> None:
        for entry in entries:
            self._serial = max(self._serial or 0, entry[0])
            for line in () if self._quiet or (entry[2] == STEP and not self._steps) else log_lines(entry):
                self._session.print(f"{self._ahead}{line}")
        if self._live is not None and info[0] not in (None, *FINAL):
            self._live.learn(info, entries)
            if not self._ahead:
                self._session.show_status(self._live.text(self._session.now()))


def _next_change(
    session: Session, job_id: int, fields: Sequence[str], previous: list[Any] | None, serial: int | None, wait: int
) -> Any:
    """The server's next answer, None for its word that nothing changed; a restarting master is waited for.

    @raise NoMasterError: another node has become the master meanwhile.
    """
    waited, pause = 0.0, 0.0
    while True:
        try:
            answer = session.client.wait_for_job_change(job_id, list(fields), previous, serial, wait)
            return None if answer == "nochange" else answer
        except LuxiError as error:
            if type(error) is LuxiError:
                raise
            if (master := session.other_master()) is not None:
                raise NoMasterError(
                    f"{not_the_master(master)}; look there first, with 'gnt-job watch {job_id}', what has become of job {job_id}"
                ) from None
            if waited >= PATIENCE:
                raise
            pause = min(pause + _PAUSE, PATIENCE - waited)
            session.warn(f"Lost the master daemon, trying again in {pause:.0f} seconds: {error}")
            session.sleep(pause)
            waited += pause


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
