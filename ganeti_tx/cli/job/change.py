"""gnt-job cancel and change-priority: of the jobs given, or of all in a status."""

from collections.abc import Callable, Sequence
from typing import Any

from ganeti_tx.cli.job.list import FORMATS, PENDING_JOBS, QUEUED_JOBS, WAITING_JOBS, of_status
from ganeti_tx.cli.options import FORCE, MANY_JOBS, PRIORITY, TABLE, YES_DO_IT, Command, switch
from ganeti_tx.cli.output import Style, query_columns, table
from ganeti_tx.cli.parsing import Parsed, UsageError, job_ids
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

_SHOWN = ("id", "status", "summary")


def cancel(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Cancel jobs; failure when one could not be cancelled."""
    if options.kill and not options.yes_do_it:
        raise UsageError("--kill ends running jobs wherever they are; it needs --yes-do-it too")
    return _change_each(session, options, words, "cancellation", lambda id: session.client.cancel_job(id, options.kill))


def change_priority(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Change the priority of jobs; failure when one could not be changed."""
    if options.priority is None:
        raise UsageError("--priority is missing: give low, normal or high")
    change = session.client.change_job_priority
    return _change_each(session, options, words, "change of priority", lambda id: change(id, options.priority))


def _change_each(
    session: Session, options: Parsed, words: Sequence[str], verb: str, change: Callable[[int], list[Any]]
) -> int:
    rows = []
    for job_id in _chosen_jobs(session, options, words, verb):
        done, message = change(job_id)
        rows.append({"job": job_id, "done": bool(done), "message": message})
        session.print(message)
    if session.document is not None:
        session.emit(rows, ["job", "done", "message"])
    return ExitCode.SUCCESS if all(row["done"] for row in rows) else ExitCode.FAILURE


def _chosen_jobs(session: Session, options: Parsed, words: Sequence[str], verb: str) -> list[int]:
    """By id or by status, the latter after a question. @raise OpPrereqError: none has the status."""
    if options.status_filter is None:
        if not words:
            raise UsageError("no job was given: give job ids, or --pending, --queued or --waiting")
        return job_ids(words)
    if words:
        raise UsageError(f"give either job ids or a status, not both; got {words[0]!r}")
    answer = session.client.query("job", _SHOWN, of_status(options.status_filter))
    ids = [row[0][1] for row in answer["data"]]
    if not ids:
        raise OpPrereqError("No jobs with the requested status have been found", ECode.STATE)
    if not options.force:
        _ask(session, answer, f"The {verb} will operate on {len(ids)} jobs.\nDo you want to continue?")
    return ids


def _ask(session: Session, answer: dict[str, Any], question: str) -> None:
    """The jobs are shown as `list` does, then it is asked. @raise Declined: they shall stay as they are."""
    style = Style()
    for line in table(query_columns(answer["fields"], style, FORMATS), answer["data"], style):
        session.print(line)
    confirm(session, question, "--force")


CANCEL = Command(
    cancel,
    MANY_JOBS,
    (
        FORCE,
        switch("--kill", "kill", "end running jobs too, by force"),
        PENDING_JOBS,
        QUEUED_JOBS,
        WAITING_JOBS,
        YES_DO_IT,
    ),
    prints=TABLE,
)
CHANGE_PRIORITY = Command(
    change_priority, MANY_JOBS, (PRIORITY, FORCE, PENDING_JOBS, QUEUED_JOBS, WAITING_JOBS), prints=TABLE
)
