"""gnt-job archive and autoarchive."""

from collections.abc import Sequence

from ganeti_tx.cli.options import SOME_JOBS, TABLE, Argument, Command
from ganeti_tx.cli.parsing import Parsed, UsageError, job_ids
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode
from ganeti_tx.model.durations import WANTED, parse_duration

ALL = -1


def archive(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Move ended jobs to the archive; failure when one could not be moved."""
    refused = [job_id for job_id in job_ids(words) if not session.client.archive_job(job_id)]
    for job_id in refused:
        session.warn(f"Failed to archive job with ID {job_id}: it has not ended, or there is none")
    return ExitCode.FAILURE if refused else ExitCode.SUCCESS


def autoarchive(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Move all jobs that ended longer ago than an age to the archive."""
    archived, left = session.client.auto_archive_jobs(parse_age(words[0]))
    text = f"Archived {archived} jobs, {left} unchecked left"
    show(session, [text], lambda: {"archived": archived, "left": left}, ["archived", "left"])
    return ExitCode.SUCCESS


def parse_age(text: str) -> int:
    """Seconds of an age such as 90, 30m, 12h, 2d or 1w; -1 for the word all. @raise UsageError: it is none of these."""
    if text == "all":
        return ALL
    age = parse_duration(text)
    if age is None:
        raise UsageError(f"invalid age {text!r}: give {WANTED}, or the word all")
    return age


ARCHIVE = Command(archive, SOME_JOBS)
AUTOARCHIVE = Command(autoarchive, (Argument("suggest", 1, 1, ("1d", "1w", "4w", "all")),), prints=TABLE)
