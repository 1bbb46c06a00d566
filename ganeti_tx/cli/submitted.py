"""Following the jobs that a job has submitted."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import follow_one
from ganeti_tx.errors import ExitCode


def follow_submitted(session: Session, answers: Sequence[tuple[bool, Any]]) -> tuple[dict[int, Sequence[Any]], int]:
    """What came of them, by their ids, and how many have failed or were refused, which is told; the others go on."""
    for why in (answer for accepted, answer in answers if not accepted):
        session.refusals.append(str(why))
        session.warn(f"Failed to submit a job: {why}")
    job_ids = [answer for accepted, answer in answers if accepted]
    session.jobs.update(dict.fromkeys(job_ids))
    if job_ids:
        session.print(f"Submitted jobs {', '.join(map(str, job_ids))}")
    results: dict[int, Sequence[Any]] = {}
    for job_id in job_ids:
        session.print(f"Waiting for job {job_id} ...")
        if (result := follow_one(session, job_id, f"Job {job_id} has failed")) is not None:
            results[job_id] = result
    return results, len(answers) - len(results)


def ended(session: Session, answers: Sequence[tuple[bool, Any]], well: str, doing: str) -> int:
    """Follow them all, and tell how it went.

    @param well: what is told when all succeeded. @param doing: what they did, for "during the ...".
    """
    _results, failed = follow_submitted(session, answers)
    session.print(f"There were {failed} errors during the {doing}." if failed else well)
    return ExitCode.FAILURE if failed else ExitCode.SUCCESS
