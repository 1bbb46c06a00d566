"""Jobs as rows for the query language."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define
from twisted.logger import Logger

from ganeti_tx.errors import JobFileCorrupted
from ganeti_tx.queue.fields import FIELDS
from ganeti_tx.queue.job import QueuedJob
from ganeti_tx.queue.store import JobStore

log = Logger()


class JobRow(Mapping[str, Any]):
    """One job; a field is computed when it is asked for."""

    def __init__(self, job: QueuedJob, archived: bool) -> None:
        self._job = job
        self._archived = archived

    def __getitem__(self, name: str) -> Any:
        return self._archived if name == "archived" else FIELDS[name](self._job)

    def __iter__(self) -> Iterator[str]:
        yield from FIELDS
        yield "archived"

    def __len__(self) -> int:
        return len(FIELDS) + 1


@define
class JobRows:
    """Finds jobs; without ids all of them, the archived ones only when it is asked who is archived."""

    store: JobStore

    def __call__(self, job_ids: Sequence[int] | None, wanted: frozenset[str]) -> list[JobRow]:
        """The jobs that are there, in the order asked for. @param wanted: the fields that will be read."""
        if job_ids is None:
            return [JobRow(*each) for each in all_jobs(self.store, "archived" in wanted)]
        found = (self.store.find(job_id) for job_id in job_ids)
        return [JobRow(*each) for each in found if each is not None]


def all_jobs(store: JobStore, with_archived: bool) -> Iterator[tuple[QueuedJob, bool]]:
    """Every job and whether it is archived; an archived file that is no job is left out with a word in the log."""
    for job in store.jobs.values():
        yield job, False
    for job_id in store.archived() if with_archived else ():
        try:
            found = store.find(job_id)
        except (JobFileCorrupted, OSError) as error:
            log.error("archived job {job_id} is left out: {error}", job_id=job_id, error=error)
        else:
            if found is not None:
                yield found
