"""Jobs that live, but whose locks nobody knows any more, because locks.data was damaged (doc/design/disk-faults.rst).

They go on with what they have, and until the last of them has let go nobody else gets a lock: one of them holds the
whole cluster, and the others wait for it before everybody else.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import msgspec
from twisted.logger import Logger

from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import LockRequest, Owner
from ganeti_tx.locking.levels import BGL
from ganeti_tx.locking.table import LockTable
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths

log = Logger()

#: What locks.data holds as long as there are such jobs: a restart looks for them again.
UNKNOWN = b'{"unknown":true}'
#: Before every job.
FIRST = -20
MAX_JOB_FILE = 64 * 1024 * 1024
FINAL = frozenset({"canceled", "error", "success"})


class _Op(msgspec.Struct, frozen=True):
    status: str


class _Job(msgspec.Struct, frozen=True):
    """As much of a job file as tells who may hold locks."""

    id: int
    ops: list[_Op]
    livelock: str | None = None


@attrs.define(eq=False)
class UnknownLocks:
    """Who they are; empty for nearly ever."""

    _owners: set[Owner] = attrs.field(factory=set)

    def __contains__(self, owner: Owner) -> bool:
        return owner in self._owners

    def __bool__(self) -> bool:
        return bool(self._owners)

    def protect(self, locks: DeferredLocks) -> None:
        """Take every lock for them, one after the other."""
        everyone = sorted(self._owners, key=lambda owner: owner.job_id)
        for owner in everyone:
            log.error("the locks of job {job} are unknown: until it ends no other job gets any", job=owner.job_id)
            locks.update(owner, [LockRequest.exclusive(BGL)], FIRST).addErrback(_ended_before)
        self._owners.update(everyone)  # a `keep` after the first missed those who were not in the queue yet

    def keep(self, table: LockTable) -> None:
        """Forget those who have let go: they neither hold nor wait."""
        if self._owners:
            self._owners.intersection_update(table.owners())


def _ended_before(_failure: Any) -> None:
    """It let go before it was its turn."""


def living_jobs(files: IFiles, paths: Paths, is_alive: Callable[[Path], bool]) -> set[Owner]:
    """The owners of every job that has not ended and whose process lives."""
    return {
        Owner(job.id, job.livelock)
        for job in _jobs(files, paths.queue_dir)
        if job.livelock is not None and any(op.status not in FINAL for op in job.ops) and is_alive(Path(job.livelock))
    }


def _jobs(files: IFiles, queue: Path) -> Iterator[_Job]:
    if not files.exists(queue):
        return
    for name in files.listdir(queue):
        if name.startswith("job-"):
            try:
                yield msgspec.json.decode(files.read(queue / name, MAX_JOB_FILE), type=_Job)
            except OSError as error:
                log.error("cannot tell whether a job holds locks: {reason}", reason=reason(error))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                log.error("cannot tell whether {name} holds locks: {error}", name=name, error=error)


def set_aside(files: IFiles, path: Path, why: Exception, now: float) -> None:
    """Rename a damaged file, so that the next write does not destroy it."""
    aside = path.with_name(f"{path.name}.damaged-{now:.0f}")
    log.error("{path} is damaged: {why}; it is kept as {aside}", path=str(path), why=why, aside=aside.name)
    try:
        files.rename(path, aside)
    except OSError as error:
        log.error("it could not be kept: {reason}", reason=reason(error))
