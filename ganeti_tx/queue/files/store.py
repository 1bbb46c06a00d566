"""The job files: numbered, written whole, copied to the candidates, archived. Memory and disk always agree."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from attrs import define, field
from twisted.internet.defer import DeferredLock
from twisted.logger import Logger

from ganeti_tx.errors import JobFileCorrupted, JobQueueError
from ganeti_tx.queue.files.job_file import is_no_job_file, is_spoiled, read_job
from ganeti_tx.queue.files.job_head import head_of
from ganeti_tx.queue.files.loading import FILE_MODE, LiveJob, QueueLoader
from ganeti_tx.queue.files.lost_found import LostAndFound
from ganeti_tx.queue.job import QueuedJob, encode_job
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_retry import in_place
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads, IThreads

__all__ = ["FILE_MODE", "JobStore", "Observer", "RenameCopies"]

log = Logger()

#: Told of job files that were archived: pairs of old and new name, relative to the queue's directory.
RenameCopies = Callable[[Sequence[tuple[str, str]]], object]


class Observer(Protocol):
    """Hears of jobs at the moment at which they change in memory; it must not fail."""

    def changed(self, before: LiveJob | None, now: QueuedJob) -> None:
        """A job was read or written; nothing need be different. There was none before when it was just submitted."""

    def gone(self, job: LiveJob, archived: bool) -> None:
        """A job is not live any more: archived, or its file is lost."""


#: Brings files of the queue, by name, to the candidates; done when each has them or is known to lack them.
Replicate = Callable[[dict[str, bytes]], Awaitable[None]]


@define
class JobStore:
    """Every job that is not archived: on disk, and in memory whole while it is open, or its head once it has ended."""

    files: IFiles
    paths: Paths
    replicate: Replicate
    rename_copies: RenameCopies
    threads: IThreads = field(factory=InlineThreads)
    observers: list[Observer] = field(factory=list)
    lost: LostAndFound = field(init=False)
    _jobs: dict[int, LiveJob] = field(factory=dict)
    _open: set[int] = field(factory=set)
    _outdated: set[int] = field(factory=set)
    _refused: set[Path] = field(factory=set)
    _last_id: int = 0
    _numbering: DeferredLock = field(factory=DeferredLock)

    def __attrs_post_init__(self) -> None:
        self.lost = LostAndFound(self.files, self.paths)

    async def load(self) -> None:
        """Read the queue directory, as QueueLoader says."""
        loader = QueueLoader(self.files, self.paths, self.threads, self.lost)
        self._jobs, self._last_id = await loader.load()
        self._open = {job_id for job_id, job in self._jobs.items() if isinstance(job, QueuedJob)}

    # What is known without opening a file

    @property
    def count(self) -> int:
        """How many live jobs there are."""
        return len(self._jobs)

    @property
    def open_count(self) -> int:
        """How many jobs wait or run."""
        for job_id in list(self._outdated):
            self.reload(job_id)
        return len(self._open)

    @property
    def last_id(self) -> int:
        """The highest id that was ever given."""
        return self._last_id

    @property
    def live(self) -> Mapping[int, LiveJob]:
        """The live jobs by id, in the order of their ids: open ones whole, of ended ones the heads."""
        for job_id in list(self._outdated):
            self.reload(job_id)
        return self._jobs

    def glance(self, job_id: int) -> LiveJob | None:
        """A live job, of which the head will do."""
        if job_id in self._outdated:
            self.reload(job_id)
        return self._jobs.get(job_id)

    @property
    def open_jobs(self) -> list[QueuedJob]:
        """The live jobs to which something may still happen."""
        return [job for job in self.live.values() if isinstance(job, QueuedJob)]

    # Whole jobs; that of an ended one is read from its file

    @property
    def jobs(self) -> Mapping[int, QueuedJob]:
        """The live jobs by id, in the order of their ids; each is read when it is looked at."""
        return _WholeJobs(self)

    def get(self, job_id: int) -> QueuedJob | None:
        """A live job."""
        job = self.glance(job_id)
        return job if job is None or isinstance(job, QueuedJob) else self.reload(job_id)

    def find(self, job_id: int) -> tuple[QueuedJob, bool] | None:
        """A job, live or archived, and whether it is archived.

        @raise JobFileCorrupted: its file in the archive holds no job; it was set aside. @raise OSError: it cannot be read.
        """
        job = self.get(job_id)
        if job is not None:
            return job, False
        try:
            return read_job(self.files, self.paths, job_id, archived=True), True
        except FileNotFoundError:
            return None
        except (JobFileCorrupted, OSError) as error:
            self.spoiled(job_id, True, error)
            raise

    def spoiled(self, job_id: int, archived: bool, error: JobFileCorrupted | OSError) -> None:
        """A job's file could not be read: if it is to blame, it is set aside, and what is in memory of it forgotten."""
        path = self.paths.archived_job_file(job_id) if archived else self.paths.job_file(job_id)
        if not is_spoiled(error):
            log.error("{path} cannot be read now: {error}", path=str(path), error=error)
            return
        self.lost.set_aside(path, error)
        if not archived:
            self._drop(job_id)

    def outdate(self, job_id: int) -> None:
        """The job's own process wrote its file: read it again when somebody asks."""
        self._outdated.add(job_id)

    def reload(self, job_id: int) -> QueuedJob | None:
        """Take in what the job's own process wrote."""
        self._outdated.discard(job_id)
        known = self._jobs.get(job_id)
        try:
            job = read_job(self.files, self.paths, job_id)
        except FileNotFoundError:
            if not isinstance(known, QueuedJob):
                self._forget(job_id)
            return None
        except (JobFileCorrupted, OSError) as error:
            if isinstance(known, QueuedJob):
                log.error("job {job_id} cannot be read again: {error}", job_id=job_id, error=error)
                return known
            self.spoiled(job_id, False, error)
            return None
        self._keep(job)
        return job

    def read_now(self, job_id: int) -> QueuedJob | None:
        """As `reload`, for who must have what is in the file; a job whose file is gone is forgotten.

        @raise OSError: it cannot be read now, perhaps later. @raise JobFileCorrupted: it holds no job.
        """
        try:
            job = read_job(self.files, self.paths, job_id)
        except FileNotFoundError:
            self._forget(job_id)
            return None
        except OSError as error:
            if is_no_job_file(error):
                raise JobFileCorrupted(f"{error.strerror or error}") from None
            raise
        self._outdated.discard(job_id)
        self._keep(job)
        return job

    def _keep(self, job: QueuedJob) -> None:
        before = self._jobs.get(job.id)
        self._jobs[job.id] = head_of(job) if job.finalized else job
        (self._open.discard if job.finalized else self._open.add)(job.id)
        for observer in self.observers:
            observer.changed(before, job)

    def _drop(self, job_id: int, archived: bool = False) -> None:
        self._open.discard(job_id)
        job = self._jobs.pop(job_id, None)
        if job is not None:
            for observer in self.observers:
                observer.gone(job, archived)

    # Changes

    async def add(self, make: Callable[[int], QueuedJob], count: int) -> list[QueuedJob]:
        """Number and store new jobs; they are on disk here and on the candidates when this returns.

        @param make: gives the job with an id; called with the ids in rising order.
        @raise JobQueueError: they could not be stored; then none of them exists.
        """
        await self._numbering.acquire()
        try:
            self.remove_refused()
            jobs = [make(self._last_id + 1 + index) for index in range(count)]
            self._last_id += count  # a number is never used again, even when its job cannot be stored
            files = {"serial": f"{self._last_id}\n".encode()}
            files.update((f"job-{job.id}", encode_job(job)) for job in jobs)
            try:
                await in_place(
                    self.files.write_many(
                        {self.paths.queue_dir / name: data for name, data in files.items()}, FILE_MODE
                    )
                )
            except OSError as error:
                self._withdraw(jobs)
                why = error.strerror or error
                raise JobQueueError(f"cannot store the job in {self.paths.queue_dir}: {why}; no job was submitted")
            for job in jobs:
                self._keep(job)
        finally:
            self._numbering.release()
        await self.replicate(files)
        return jobs

    def _withdraw(self, jobs: Sequence[QueuedJob]) -> None:
        """Remove what a failed submission may have left, so that no job runs after a restart that was refused."""
        self._refused.update(self.paths.job_file(job.id) for job in jobs)
        if not self.remove_refused():
            names = ", ".join(path.name for path in sorted(self._refused))
            log.error("{names} of refused submissions cannot be removed yet", names=names)

    def remove_refused(self) -> bool:
        """Remove what refused submissions have left; whether nothing is left of them."""
        for path in sorted(self._refused):
            with suppress(OSError):
                if self.files.exists(path):
                    self.files.remove(path)
                self._refused.discard(path)
        return not self._refused

    async def numbered(self) -> tuple[list[int], int]:
        """The ids of the live jobs and the last id given, at a moment when no job is being stored."""
        await self._numbering.acquire()
        try:
            return list(self._jobs), self._last_id
        finally:
            self._numbering.release()

    async def put(self, job: QueuedJob) -> None:
        """Store a changed job here; the copies follow."""
        data = encode_job(job)
        self.remove_refused()
        await in_place(self.files.write_atomic(self.paths.job_file(job.id), data, FILE_MODE))
        self._keep(job)
        await self.replicate({f"job-{job.id}": data})

    async def archive(self, job_ids: Sequence[int]) -> int:
        """Move ended jobs to the archive, here and on the candidates; gives how many there were.

        @raise JobQueueError: one could not be moved; those before it were.
        """
        moved: list[tuple[str, str]] = []
        try:
            for job_id in job_ids:
                job = self.glance(job_id)
                if job is not None and job.finalized:
                    moved += self._archive_one(job_id)
        finally:
            if moved:
                self.rename_copies(moved)
        return len(moved)

    def _archive_one(self, job_id: int) -> list[tuple[str, str]]:
        """The job's old and new name; nothing for one whose file somebody took away."""
        old, new = self.paths.job_file(job_id), self.paths.archived_job_file(job_id)
        try:
            self.files.rename(old, new)
        except FileNotFoundError:
            self._forget(job_id)
            return []
        except OSError as error:
            raise JobQueueError(f"job {job_id} cannot be moved to {new.parent}: {error.strerror or error}")
        self._drop(job_id, archived=True)
        return [(old.name, str(new.relative_to(self.paths.queue_dir)))]

    def _forget(self, job_id: int) -> None:
        """A job's file is gone without our doing."""
        log.error("job {job_id} has no file any more; it is forgotten", job_id=job_id)
        self._drop(job_id)


class _WholeJobs(Mapping[int, QueuedJob]):
    """The live jobs; a look at an ended one opens its file."""

    def __init__(self, store: JobStore) -> None:
        self._store = store

    def __getitem__(self, job_id: int) -> QueuedJob:
        job = self._store.get(job_id)
        if job is None:
            raise KeyError(job_id)
        return job

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._store.live))

    def __len__(self) -> int:
        return self._store.count
