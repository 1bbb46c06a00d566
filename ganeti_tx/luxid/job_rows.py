"""Jobs for those who ask about them: from memory where that has them, else from their files, some at a time."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.internet.defer import DeferredSemaphore

from ganeti_tx.errors import JobFileCorrupted
from ganeti_tx.luxid.job_refs import JobRefs
from ganeti_tx.query.jobs import JobRef
from ganeti_tx.queue.fields import FIELDS
from ganeti_tx.queue.files.archive import Archive
from ganeti_tx.queue.files.job_file import read_job
from ganeti_tx.queue.files.job_head import JobHead
from ganeti_tx.queue.files.loading import LiveJob
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.job import QueuedJob

#: So many readings of job files may be under way; more would leave no threads for those who write.
READERS = 2

Read = tuple[JobRef, QueuedJob]
Fault = tuple[JobRef, JobFileCorrupted | OSError]


class JobRow(Mapping[str, Any]):
    """One job; a field is computed when it is asked for."""

    def __init__(self, job: LiveJob, archived: bool) -> None:
        self._job = job
        self._archived = archived

    def __getitem__(self, name: str) -> Any:
        if name == "archived":
            return self._archived
        get: Any = FIELDS[name]
        return get(self._job)

    def __iter__(self) -> Iterator[str]:
        yield from FIELDS
        yield "archived"

    def __len__(self) -> int:
        return len(FIELDS) + 1


@define
class JobRows:
    """Finds jobs and loads them; see `query.jobs.Jobs`."""

    store: JobStore
    _slots: DeferredSemaphore = field(factory=lambda: DeferredSemaphore(READERS))

    async def find(self, ids: Sequence[int] | None, archived: bool) -> Sequence[JobRef]:
        """As Jobs.find says; the archive's directories are listed in a thread, and no file is opened."""
        live = self.store.live
        if ids is None and not archived:
            return [JobRef(job_id, False) for job_id in live]
        if ids is None:
            return await self.store.threads.run(self._all, list(live))
        elsewhere = {job_id for job_id in ids if job_id not in live}
        there = await self.store.threads.run(self._among_archived, elsewhere) if elsewhere else set()
        return [JobRef(id, id in elsewhere, asked=True) for id in ids if id in there or id not in elsewhere]

    def _all(self, live: Sequence[int]) -> JobRefs:
        """Runs in a thread."""
        return JobRefs.of(live, Archive(self.store.files, self.store.paths).ids())

    def _among_archived(self, ids: set[int]) -> set[int]:
        """Runs in a thread."""
        return {job_id for job_id in ids if job_id > 0 and self.store.files.exists(self._archived_file(job_id))}

    def _archived_file(self, job_id: int) -> Path:
        return self.store.paths.archived_job_file(job_id)

    async def load(self, refs: Sequence[JobRef], whole: bool) -> Mapping[int, JobRow]:
        """As Jobs.load says; each file is opened once, and the reactor has its turn meanwhile."""
        rows: dict[int, JobRow] = {}
        unread: list[JobRef] = []
        for ref in refs:
            if ref.archived is None:
                continue
            job = None if ref.archived else self.store.glance(ref.id)
            if job is None or (whole and isinstance(job, JobHead)):
                unread.append(ref)
            else:
                rows[ref.id] = JobRow(job, False)
        read, faults = await self._read(unread)
        rows.update((ref.id, JobRow(job, bool(ref.archived))) for ref, job in read)
        for ref, error in faults:
            self._tell(ref, error)
        return rows

    async def _read(self, refs: Sequence[JobRef]) -> tuple[list[Read], list[Fault]]:
        await self._slots.acquire()
        try:
            return await self.store.threads.run(self._read_some, refs)
        finally:
            self._slots.release()

    def _read_some(self, refs: Sequence[JobRef]) -> tuple[list[Read], list[Fault]]:
        """Runs in a thread. A job that is not where it was is looked for in the archive; one that is gone is left out."""
        found: list[Read] = []
        faults: list[Fault] = []
        for ref in refs:
            for archived in (True,) if ref.archived else (False, True):
                place = ref._replace(archived=archived)
                try:
                    found.append((place, read_job(self.store.files, self.store.paths, ref.id, archived)))
                except FileNotFoundError:
                    continue
                except (JobFileCorrupted, OSError) as error:
                    faults.append((place, error))
                break
        return found, faults

    def _tell(self, ref: JobRef, error: JobFileCorrupted | OSError) -> None:
        self.store.spoiled(ref.id, bool(ref.archived), error)
        if ref.asked:
            why = error if isinstance(error, JobFileCorrupted) else error.strerror
            lost = self.store.paths.queue_lost_dir
            raise JobFileCorrupted(f"job {ref.id} cannot be shown: {why}; a damaged file is kept in {lost}")
