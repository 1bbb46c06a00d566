"""The jobs that an old master had under way, found in the copies of their files when another node takes over (design-2.0)."""

from collections.abc import Iterator
from pathlib import Path

from attrs import frozen
from twisted.logger import Logger

from ganeti_tx.errors import JobFileCorrupted, OpExecError, encode_error
from ganeti_tx.queue.job import (
    MAX_JOB_FILE,
    QueuedJob,
    Status,
    decode_job,
    encode_job,
    ended,
    nothing_half_done,
    with_cause,
)
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.livelock import ILiveness
from ganeti_tx.runtime.paths import Paths

log = Logger()

PREFIX = "job-"
FILE_MODE = 0o640
#: So many files are written at a time.
AT_A_TIME = 100


@frozen
class JobsLeft:
    """Jobs that a process of the old master has had end as failed, at once or when what they have begun is taken back;
    queued ones wait on for the new master.

    That a job was not handed to a process yet is certain: its file has the name of its process, on the candidates too,
    before the process gets it. What a process did with it since may not have reached the copy.
    """

    files: IFiles
    paths: Paths
    liveness: ILiveness

    async def end(self, old_master: str, now: float) -> list[int]:
        """End them; gives their ids. @raise OSError: a file cannot be written."""
        over = [self._over(job, old_master, now) for job in self._under_way()]
        for start in range(0, len(over), AT_A_TIME):
            batch = {self.paths.job_file(job.id): encode_job(job) for job in over[start : start + AT_A_TIME]}
            await self.files.write_many(batch, FILE_MODE)
        return [job.id for job in over]

    def _over(self, job: QueuedJob, old_master: str, now: float) -> QueuedJob:
        """The job at its end; one that has begun what must be taken back ends when this node, as the master, has done that."""
        if job.interrupted is not None:
            return with_cause(job, f"master failed over from {old_master} while the job ran")
        return ended(job, Status.ERROR, reason(job, old_master), now)

    def _under_way(self) -> Iterator[QueuedJob]:
        """The jobs that have been started elsewhere; a process of this node that lives goes on with its own."""
        for name in self.files.listdir(self.paths.queue_dir) if self.files.exists(self.paths.queue_dir) else ():
            job = self._read(name) if name.startswith(PREFIX) else None
            if job is not None and not job.finalized and job.livelock is not None and not self._is_own(job.livelock):
                yield job

    def _read(self, name: str) -> QueuedJob | None:
        try:
            return decode_job(self.files.read(self.paths.queue_dir / name, MAX_JOB_FILE))
        except (JobFileCorrupted, OSError) as error:
            log.error("{name} in the queue directory is left out: {error}", name=name, error=error)
            return None

    def _is_own(self, livelock: str) -> bool:
        path = Path(livelock)
        return path.parent == self.paths.livelock_dir and self.liveness.is_alive(path)


def reason(job: QueuedJob, old_master: str) -> object:
    """What the job's opcodes that were not over have as their result."""
    known = " (by the copy of its file it was waiting for its locks)" if nothing_half_done(job) else ""
    return encode_error(OpExecError(f"master failed over from {old_master} while the job ran{known}"))
