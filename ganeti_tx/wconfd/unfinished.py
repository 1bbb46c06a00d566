"""Jobs that have begun what must be taken back: they keep their locks, and what they have reserved, when their process dies.

See doc/design/undo.rst.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import msgspec
from twisted.logger import Logger

from ganeti_tx.config.reservations import Reservations
from ganeti_tx.config.undo_claims import undo_claims
from ganeti_tx.errors import LockError
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.levels import Lock, Mode
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths

log = Logger()

MAX_JOB_FILE = 64 * 1024 * 1024
FINAL = frozenset({"canceled", "error", "success"})
#: In every job file that tells of an undo, and in hardly any other.
MARK = b'"undo":'


class _Undo(msgspec.Struct, frozen=True):
    locks: dict[str, Mode]
    steps: list[Any] = []


class _Op(msgspec.Struct, frozen=True):
    status: str
    undo: _Undo | None = None


class _Job(msgspec.Struct, frozen=True):
    """As much of a job file as tells what is begun, and which locks it needs."""

    id: int
    ops: list[_Op]
    livelock: str | None = None

    @property
    def undo(self) -> _Undo | None:
        """That of the opcode that has not ended."""
        return next((op.undo for op in self.ops if op.undo is not None and op.status not in FINAL), None)


@attrs.frozen
class UnfinishedJobs:
    """Reads job files on the master's own disk; what cannot be read is taken for unfinished until it can be."""

    files: IFiles
    paths: Paths

    def includes(self, job_id: int) -> bool:
        """Whether a job has begun what is not taken back."""
        try:
            job = self._read(self.paths.job_file(job_id))
        except FileNotFoundError:
            return False
        except OSError as error:
            log.error("cannot tell whether a dead job left something: {reason}", reason=reason(error))
            return True
        return job is not None and job.undo is not None

    def restore(self, locks: DeferredLocks, reservations: Reservations) -> None:
        """Give those whose locks nobody has kept (after a failover, say) the locks that their files name, and reserve what
        their undos need.
        """
        holding = {owner.job_id for owner in locks.owners()}
        for owner, undo in self._all():
            reservations.keep((owner.job_id, owner.livelock), set(undo_claims(undo.steps)))
            if owner.job_id not in holding:
                log.warn("job {job} was interrupted: it has its locks again until it is undone", job=owner.job_id)
                _restore(locks, owner, undo.locks)

    def _all(self) -> Iterator[tuple[Owner, _Undo]]:
        if not self.files.exists(self.paths.queue_dir):
            return
        for name in self.files.listdir(self.paths.queue_dir):
            if name.startswith("job-"):
                job = self._read_or_tell(self.paths.queue_dir / name)
                if job is not None and job.undo is not None:
                    yield Owner(job.id, job.livelock or ""), job.undo

    def _read_or_tell(self, path: Path) -> _Job | None:
        try:
            return self._read(path)
        except OSError as error:
            log.error("cannot tell whether a dead job left something: {reason}", reason=reason(error))
            return None

    def _read(self, path: Path) -> _Job | None:
        """None for a file in which nothing is begun, or which is damaged. @raise OSError: it cannot be read."""
        data = self.files.read(path, MAX_JOB_FILE)
        if MARK not in data:
            return None
        try:
            return msgspec.json.decode(data, type=_Job)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None


def _restore(locks: DeferredLocks, owner: Owner, wanted: Mapping[str, Mode]) -> None:
    try:
        locks.restore(owner, {Lock.parse(name): mode for name, mode in wanted.items()})
    except LockError as error:
        log.warn("{owner} has to wait for its locks: {error}", owner=owner, error=error)
