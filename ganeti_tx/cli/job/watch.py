"""gnt-job wait and watch."""

from collections.abc import Sequence
from typing import NamedTuple

from ganeti_tx.cli.failures import describe, warn_of
from ganeti_tx.cli.job.chosen import job_ranges
from ganeti_tx.cli.job_state import line_of_several
from ganeti_tx.cli.options import MANY_JOBS, ONE_JOB, TABLE, TREE, Command, switch
from ganeti_tx.cli.parsing import Parsed, UsageError, job_ids
from ganeti_tx.cli.progress import FINAL, GOES_ON, Watched, follow, results
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode, GanetiError, JobCanceled, JobLost, LuxiError

#: Seconds between two looks at several jobs.
_PAUSE = 1.0


class Ended(NamedTuple):
    """How a job has ended, for programs; the status is None of one that is not there, or that nobody can tell of."""

    job: int
    status: str | None
    error: str | None = None

    @property
    def exit_status(self) -> ExitCode:
        """That of the command."""
        return ExitCode.SUCCESS if self.error is None else ExitCode.FAILURE


def watch(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Show what jobs say until they end."""
    chosen = _chosen(session, options, words)
    if not chosen:
        session.print("No job is under way.")
    if len(chosen) != 1:
        ended = _watch_several(session, chosen)
    else:
        title = f"Output from job {chosen[0]} follows"
        session.print(title)
        session.print("-" * len(title))
        ended = [_ended(session, chosen[0], quiet=False)]
    if session.document is not None:
        session.emit([each._asdict() for each in ended], Ended._fields)
    return max((each.exit_status for each in ended), default=ExitCode.SUCCESS)


def wait(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Wait for the end of the job."""
    (job_id,) = job_ids(words)
    ended = _ended(session, job_id, quiet=True)
    if session.document is not None:
        session.emit(ended._asdict())
    return ended.exit_status


def _chosen(session: Session, options: Parsed, words: Sequence[str]) -> list[int]:
    """By id, or all that have not ended. @raise UsageError: none is given, or both are."""
    if bool(words) == options.all_running:
        raise UsageError("wants either job ids, such as 7 9-12, or --all-running")
    if words:
        return job_ranges(words)
    return [row[0][1] for row in session.client.query("job", ["id"], GOES_ON)["data"]]


def _ended(session: Session, job_id: int, *, quiet: bool) -> Ended:
    """@raise JobLost: it is not there; programs get it as one that has no status."""
    try:
        follow(session, job_id, quiet=quiet, steps=True)
    except JobLost as error:
        if session.document is None:
            raise
        return _lost(session, job_id, error)
    except LuxiError as error:  # the master daemon is away; the job may have succeeded
        warn_of(session, f"How job {job_id} ends is not known", error)
        return Ended(job_id, None, describe(error)[1])
    except GanetiError as error:
        return _failed(session, job_id, error)
    return Ended(job_id, "success")


def _lost(session: Session, job_id: int, error: JobLost) -> Ended:
    session.warn(describe(error)[1])
    return Ended(job_id, None, describe(error)[1])


def _failed(session: Session, job_id: int, error: GanetiError) -> Ended:
    warn_of(session, f"Job {job_id} failed", error)
    return Ended(job_id, "canceled" if isinstance(error, JobCanceled) else "error", describe(error)[1])


def _watch_several(session: Session, job_ids: Sequence[int]) -> list[Ended]:
    """Each line with the job's id ahead of it."""
    watched = {job_id: Watched(session, job_id, steps=True, ahead=f"{job_id}: ") for job_id in job_ids}
    ended: dict[int, Ended] = {}
    try:
        while going_on := [job_id for job_id in watched if job_id not in ended]:
            looked = {job_id: _look(session, job_id, watched[job_id]) for job_id in going_on}
            ended |= {job_id: over for job_id, over in looked.items() if over is not None}
            if len(ended) < len(watched):
                _show_state(session, [watched[job_id] for job_id in watched if job_id not in ended])
                session.sleep(_PAUSE)
    finally:
        session.clear_status()
    return [ended[job_id] for job_id in watched]


def _show_state(session: Session, watched: Sequence[Watched]) -> None:
    states = [each.state for each in watched if each.state is not None]
    if states:
        session.show_status(line_of_several(states, session.now()))


def _look(session: Session, job_id: int, watched: Watched) -> Ended | None:
    """How the job ended, which is told; None if it has not."""
    try:
        watched.look(0)
        if watched.status not in FINAL:
            return None
        results(session, job_id)
    except JobLost as error:
        return _lost(session, job_id, error)
    except GanetiError as error:
        if watched.status not in FINAL or isinstance(error, LuxiError):
            raise
        return _failed(session, job_id, error)
    session.print(f"{job_id}: {watched.status}")
    return Ended(job_id, watched.status)


ALL_RUNNING = switch("--all-running", "all_running", "all jobs that have not ended")._replace(own=True)

WAIT = Command(wait, ONE_JOB, prints=TREE)
WATCH = Command(
    watch,
    MANY_JOBS,
    (ALL_RUNNING,),
    prints=TABLE,
    manual="""
Several jobs are given by their ids, as ranges such as 9-12, too. Then each line has the id of its job ahead of it, and the
command ends when all jobs have, with status 0 if all of them succeeded. On a terminal the last line tells how far each of them is.
To leave the command does nothing to the jobs.
""",
)
