"""gnt-job wait and watch."""

from collections.abc import Sequence

from ganeti_tx.cli.failures import describe
from ganeti_tx.cli.options import ONE_JOB, Command
from ganeti_tx.cli.parsing import Parsed, job_ids
from ganeti_tx.cli.progress import follow
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode, GanetiError, JobLost


def watch(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Show what the job says until it ends."""
    (job_id,) = job_ids(words)
    title = f"Output from job {job_id} follows"
    session.print(title)
    session.print("-" * len(title))
    return _ended(session, job_id, quiet=False)


def wait(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Wait for the end of the job."""
    (job_id,) = job_ids(words)
    return _ended(session, job_id, quiet=True)


def _ended(session: Session, job_id: int, *, quiet: bool) -> int:
    try:
        follow(session, job_id, quiet=quiet, steps=True)
    except JobLost:
        raise
    except GanetiError as error:
        session.warn(f"Job {job_id} failed: {describe(error)[1]}")
        return ExitCode.FAILURE
    return ExitCode.SUCCESS


WAIT = Command(wait, ONE_JOB)
WATCH = Command(watch, ONE_JOB)
