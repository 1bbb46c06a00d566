"""The job files: numbered, written whole, copied to the candidates, archived. Memory and disk always agree."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import define, field
from twisted.internet.defer import DeferredLock
from twisted.logger import Logger

from ganeti_tx.errors import JobFileCorrupted, JobQueueError
from ganeti_tx.queue.job import MAX_JOB_FILE, QueuedJob, decode_job, encode_job
from ganeti_tx.queue.replication import Replicate
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

JOB_FILE = re.compile(r"^job-(\d+)$")
FILE_MODE = 0o640
DIRECTORY_MODE = 0o750
QUEUE_VERSION = "1\n"


@define
class JobStore:
    """Every job that is not archived, in memory and on disk."""

    files: IFiles
    paths: Paths
    replicate: Replicate
    rename_copies: Callable[[Sequence[tuple[str, str]]], object]
    _jobs: dict[int, QueuedJob] = field(factory=dict)
    _outdated: set[int] = field(factory=set)
    _last_id: int = 0
    _numbering: DeferredLock = field(factory=DeferredLock)

    async def load(self) -> None:
        """Read the queue directory; a file that is no job is set aside with a word in the log, never fatal."""
        for directory in (self.paths.queue_dir, self.paths.queue_archive_dir):
            if not self.files.exists(directory):
                self.files.mkdir(directory, DIRECTORY_MODE)
        self._jobs = dict(sorted((job.id, job) for job in self._read_all()))
        self._last_id = max([self._read_serial(), *self._jobs])
        if not self.files.exists(self.paths.queue_version_file):
            await self.files.write_atomic(self.paths.queue_version_file, QUEUE_VERSION.encode(), FILE_MODE)

    def _read_all(self) -> Iterator[QueuedJob]:
        for name in self.files.listdir(self.paths.queue_dir):
            match = JOB_FILE.match(name)
            if match is None:
                continue
            try:
                yield self._read(int(match[1]))
            except (JobFileCorrupted, OSError) as error:
                log.error("{name} in the queue directory is left out: {error}", name=name, error=error)

    def _read(self, job_id: int) -> QueuedJob:
        job = decode_job(self.files.read(self.paths.job_file(job_id), MAX_JOB_FILE))
        if job.id != job_id:
            raise JobFileCorrupted(f"job-{job_id} holds job {job.id}")
        return job

    def _read_serial(self) -> int:
        if not self.files.exists(self.paths.queue_serial_file):
            return 0
        text = self.files.read(self.paths.queue_serial_file, 64).decode("ascii", "replace").strip()
        if not text.isdigit():
            log.error("the queue's serial file holds {text!r}; counting on from the newest job", text=text)
            return 0
        return int(text)

    @property
    def jobs(self) -> Mapping[int, QueuedJob]:
        """The live jobs by id, in the order of their ids."""
        for job_id in list(self._outdated):
            self.reload(job_id)
        return self._jobs

    @property
    def count(self) -> int:
        """How many live jobs there are."""
        return len(self._jobs)

    def get(self, job_id: int) -> QueuedJob | None:
        """A live job."""
        return self.reload(job_id) if job_id in self._outdated else self._jobs.get(job_id)

    def find(self, job_id: int) -> tuple[QueuedJob, bool] | None:
        """A job, live or archived, and whether it is archived."""
        job = self.get(job_id)
        if job is not None:
            return job, False
        path = self.paths.archived_job_file(job_id)
        if not self.files.exists(path):
            return None
        return decode_job(self.files.read(path, MAX_JOB_FILE)), True

    def archived(self) -> Iterator[int]:
        """The ids of the archived jobs."""
        archive = self.paths.queue_archive_dir
        for directory in sorted(filter(str.isdigit, self.files.listdir(archive)), key=int):
            names = map(JOB_FILE.match, self.files.listdir(archive / directory))
            yield from sorted(int(match[1]) for match in names if match is not None)

    async def add(self, make: Callable[[int], QueuedJob], count: int) -> list[QueuedJob]:
        """Number and store new jobs; they are on disk here and on the candidates when this returns.

        @param make: gives the job with an id; called with the ids in rising order.
        @raise JobQueueError: they could not be stored; then none of them exists.
        """
        await self._numbering.acquire()
        try:
            jobs = [make(self._last_id + 1 + index) for index in range(count)]
            self._last_id += count  # a number is never used again, even when its job cannot be stored
            files = {"serial": f"{self._last_id}\n".encode()}
            files.update((f"job-{job.id}", encode_job(job)) for job in jobs)
            try:
                await self.files.write_many(
                    {self.paths.queue_dir / name: data for name, data in files.items()}, FILE_MODE
                )
            except OSError as error:
                raise JobQueueError(f"cannot store the job in {self.paths.queue_dir}: {error.strerror or error}")
            for job in jobs:
                self._jobs[job.id] = job
        finally:
            self._numbering.release()
        await self.replicate(files)
        return jobs

    async def put(self, job: QueuedJob) -> None:
        """Store a changed job here; the copies follow."""
        data = encode_job(job)
        await self.files.write_atomic(self.paths.job_file(job.id), data, FILE_MODE)
        self._jobs[job.id] = job
        await self.replicate({f"job-{job.id}": data})

    def outdate(self, job_id: int) -> None:
        """The job's own process wrote its file: read it again when somebody asks."""
        self._outdated.add(job_id)

    def reload(self, job_id: int) -> QueuedJob | None:
        """Take in what the job's own process wrote."""
        self._outdated.discard(job_id)
        try:
            self._jobs[job_id] = self._read(job_id)
        except FileNotFoundError:
            return None
        except (JobFileCorrupted, OSError) as error:
            log.error("job {job_id} cannot be read again: {error}", job_id=job_id, error=error)
        return self._jobs.get(job_id)

    async def archive(self, job_ids: Sequence[int]) -> int:
        """Move finished jobs to the archive, here and on the candidates; gives how many there were."""
        moved = [job_id for job_id in job_ids if (job := self.get(job_id)) is not None and job.finalized]
        for job_id in moved:
            self.files.rename(self.paths.job_file(job_id), self.paths.archived_job_file(job_id))
            del self._jobs[job_id]
        if moved:
            queue = self.paths.queue_dir
            self.rename_copies(
                [(f"job-{job_id}", str(self.paths.archived_job_file(job_id).relative_to(queue))) for job_id in moved]
            )
        return len(moved)
