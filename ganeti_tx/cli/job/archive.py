"""gnt-job archive and autoarchive."""

from collections.abc import Sequence

from ganeti_tx.cli.options import SOME_JOBS, Argument, Command
from ganeti_tx.cli.parsing import Parsed, UsageError, job_ids
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.values import is_natural
from ganeti_tx.errors import ExitCode

ALL = -1
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def archive(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Move ended jobs to the archive; failure when one could not be moved."""
    refused = [job_id for job_id in job_ids(words) if not session.client.archive_job(job_id)]
    for job_id in refused:
        session.warn(f"Failed to archive job with ID {job_id}: it has not ended, or there is none")
    return ExitCode.FAILURE if refused else ExitCode.SUCCESS


def autoarchive(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Move all jobs that ended longer ago than an age to the archive."""
    archived, left = session.client.auto_archive_jobs(parse_age(words[0]))
    session.print(f"Archived {archived} jobs, {left} unchecked left")
    return ExitCode.SUCCESS


def parse_age(text: str) -> int:
    """Seconds of an age such as 90, 30m, 12h, 2d or 1w; -1 for the word all. @raise UsageError: it is none of these."""
    if text == "all":
        return ALL
    number, factor = (text[:-1], _SECONDS[text[-1]]) if text[-1:] in _SECONDS else (text, 1)
    if not is_natural(number):
        raise UsageError(f"invalid age {text!r}: give seconds, a number with s, m, h, d or w, or the word all")
    return int(number) * factor


ARCHIVE = Command(archive, SOME_JOBS)
AUTOARCHIVE = Command(autoarchive, (Argument("suggest", 1, 1, ("1d", "1w", "4w", "all")),))
