"""What a job file is called, reading one, and telling a file that is at fault from a machine that is."""

import errno
import re

from ganeti_tx.errors import JobFileCorrupted
from ganeti_tx.queue.job import MAX_JOB_FILE, QueuedJob, decode_job
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: An id has at most 18 digits.
JOB_FILE = re.compile(r"job-([1-9][0-9]{0,17})")

#: Errors that stay with this one file, however often it is read.
_OF_THE_FILE = frozenset({errno.EACCES, errno.EFBIG, errno.EIO, errno.EISDIR, errno.ELOOP, errno.EPERM})


def job_number(name: str) -> int | None:
    """The id of the job whose file has this name; None for any other name."""
    match = JOB_FILE.fullmatch(name)
    return None if match is None else int(match[1])


def read_job(files: IFiles, paths: Paths, job_id: int, archived: bool = False) -> QueuedJob:
    """A job from its file. @raise JobFileCorrupted: the file holds no job, or another one. @raise OSError: it cannot be read."""
    path = paths.archived_job_file(job_id) if archived else paths.job_file(job_id)
    job = decode_job(files.read(path, MAX_JOB_FILE))
    if job.id != job_id:
        raise JobFileCorrupted(f"{path.name} holds job {job.id}")
    return job


#: Errors that say what lies there: it is no file, or larger than any job's.
_NO_JOB_FILE = frozenset({errno.EFBIG, errno.EISDIR, errno.ELOOP})


def is_no_job_file(error: OSError) -> bool:
    """Whether what lies there will never be read, whatever becomes of the disk or the machine."""
    return error.errno in _NO_JOB_FILE


def is_spoiled(error: JobFileCorrupted | OSError) -> bool:
    """Whether the file itself is to blame, and not, say, a want of memory or of open files."""
    return isinstance(error, JobFileCorrupted) or error.errno in _OF_THE_FILE
