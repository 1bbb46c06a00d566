"""gnt-job wait and watch."""

from collections.abc import Sequence

from ganeti_tx.cli.failures import describe, warn_of
from ganeti_tx.cli.job.chosen import job_ranges
from ganeti_tx.cli.options import MANY_JOBS, ONE_JOB, Command, switch
from ganeti_tx.cli.parsing import Parsed, UsageError, job_ids
from ganeti_tx.cli.progress import FINAL, GOES_ON, Watched, follow, results
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode, GanetiError, JobLost

#: Seconds between two looks at several jobs.
_PAUSE = 1.0


def watch(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Show what jobs say until they end."""
    chosen = _chosen(session, options, words)
    if not chosen:
        session.print("No job is under way.")
    if len(chosen) != 1:
        return _watch_several(session, chosen)
    (job_id,) = chosen
    title = f"Output from job {job_id} follows"
    session.print(title)
    session.print("-" * len(title))
    return _ended(session, job_id, quiet=False)


def wait(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Wait for the end of the job."""
    (job_id,) = job_ids(words)
    return _ended(session, job_id, quiet=True)


def _chosen(session: Session, options: Parsed, words: Sequence[str]) -> list[int]:
    """By id, or all that have not ended. @raise UsageError: none is given, or both are."""
    if bool(words) == options.all_running:
        raise UsageError("wants either job ids, such as 7 9-12, or --all-running")
    if words:
        return job_ranges(words)
    return [row[0][1] for row in session.client.query("job", ["id"], GOES_ON)["data"]]


def _ended(session: Session, job_id: int, *, quiet: bool) -> int:
    try:
        follow(session, job_id, quiet=quiet, steps=True)
    except JobLost:
        raise
    except GanetiError as error:
        warn_of(session, f"Job {job_id} failed", error)
        return ExitCode.FAILURE
    return ExitCode.SUCCESS


def _watch_several(session: Session, job_ids: Sequence[int]) -> int:
    """Each line with the job's id ahead of it; failure when one of them failed or is not there."""
    watched = {job_id: Watched(session, job_id, steps=True, ahead=f"{job_id}: ") for job_id in job_ids}
    failed = False
    while watched:
        for job_id in list(watched):
            over = _look(session, job_id, watched[job_id])
            if over is not None:
                failed = failed or over != ExitCode.SUCCESS
                del watched[job_id]
        if watched:
            session.sleep(_PAUSE)
    return ExitCode.FAILURE if failed else ExitCode.SUCCESS


def _look(session: Session, job_id: int, watched: Watched) -> ExitCode | None:
    """How the job ended, which is told; None if it has not."""
    try:
        watched.look(0)
        if watched.status not in FINAL:
            return None
        results(session, job_id)
    except JobLost as error:
        session.warn(describe(error)[1])
        return ExitCode.FAILURE
    except GanetiError as error:
        if watched.status not in FINAL:
            raise
        warn_of(session, f"Job {job_id} failed", error)
        return ExitCode.FAILURE
    session.print(f"{job_id}: {watched.status}")
    return ExitCode.SUCCESS


ALL_RUNNING = switch("--all-running", "all_running", "all jobs that have not ended")._replace(own=True)

WAIT = Command(wait, ONE_JOB)
WATCH = Command(
    watch,
    MANY_JOBS,
    (ALL_RUNNING,),
    manual="""
Several jobs are given by their ids, as ranges such as 9-12, too. Then each line has the id of its job ahead of it, and the
command ends when all jobs have, with status 0 if all of them succeeded. To leave the command does nothing to the jobs.
""",
)
