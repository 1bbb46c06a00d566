"""The copies of the job queue on a master candidate: of every file the latest stays, in whatever order messages come."""

import re
from collections.abc import Collection
from pathlib import Path

from attrs import define, field
from twisted.internet.defer import DeferredLock
from twisted.logger import Logger

from ganeti_tx.errors import JobQueueError
from ganeti_tx.model.digest import digest_of
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.answers import answers
from ganeti_tx.node.queue_copies import purge, set_aside, sweep
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.queue import (
    JobqueueDigests,
    JobqueuePurge,
    JobqueueRename,
    JobqueueSetDrainFlag,
    JobqueueSweep,
    JobqueueUpdate,
)
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

JOB_FILE = re.compile(r"job-[0-9]{1,19}")
QUEUE_FILE = re.compile(r"job-[0-9]{1,19}|serial|version")
ARCHIVED_FILE = re.compile(r"archive/[0-9]{1,19}/job-[0-9]{1,19}")
SERIAL = re.compile(r"[0-9]{1,19}\n?")
JOB_MODE = 0o640
DRAIN_MODE = 0o644
DRAIN = "drain"
#: No more than this is read of one file.
MAX_FILE = 128 * 1024 * 1024


@define
class JobCopies:
    """Takes in what the master sends; what is late is left out without a word, for the newer is here."""

    files: IFiles
    paths: Paths
    terms: Terms
    _lock: DeferredLock = field(factory=DeferredLock)

    @answers(JobqueueUpdate)
    async def update(self, call: JobqueueUpdate) -> None:
        """Write copies of job files and of the serial number."""
        for name, data in call.files:
            if not QUEUE_FILE.fullmatch(name):
                raise JobQueueError(f"not a file of the job queue: {name[:60]!r}")
            if name == "serial" and not SERIAL.fullmatch(data):
                raise JobQueueError(f"not a serial number: {data[:60]!r}")
        if call.sequences and len(call.sequences) != len(call.files):
            raise JobQueueError(f"{len(call.files)} files come with {len(call.sequences)} sequence numbers")
        await self._lock.acquire()
        try:
            await self.terms.admit(call.stamp)
            sequences = dict(zip((name for name, _ in call.files), call.sequences, strict=False))
            settled = self.terms.is_of_this_term("queue", call.stamp)
            wanted = {
                name: data for name, data in call.files if self._is_wanted(name, data, sequences.get(name), settled)
            }
            if wanted:
                paths = {self.paths.queue_dir / name: data.encode() for name, data in wanted.items()}
                await self.files.write_many(paths, JOB_MODE)
            for name in wanted:
                self.terms.note(name, sequences.get(name))
                if JOB_FILE.fullmatch(name) and self._is_archived(name):
                    self.files.remove(self._archived(name))
        finally:
            self._lock.release()

    def _is_wanted(self, name: str, data: str, sequence: int | None, settled: bool) -> bool:
        """What is here of a former master is no reason to refuse anything, until the copies are `settled`: it may have
        gone on giving numbers, and archiving jobs that are live for its successor.
        """
        if name == "version":
            return True
        if name == "serial" and settled:
            return int(data) >= self._present_serial()
        return self.terms.is_newer(name, sequence) and not (settled and self._is_archived(name))

    def _is_archived(self, name: str) -> bool:
        return self.files.exists(self._archived(name))

    def _archived(self, name: str) -> Path:
        return self.paths.archived_job_file(int(name.removeprefix("job-")))

    def _present_serial(self) -> int:
        """The serial number that is here; -1 when there is none that can be read."""
        path = self.paths.queue_serial_file
        if not self.files.exists(path):
            return -1
        digits = self.files.read(path, 64).decode("ascii", "replace")
        return int(digits) if SERIAL.fullmatch(digits) else -1

    async def when_idle(self) -> None:
        """Waits until every message that has come before is done with."""
        await self._lock.acquire()
        self._lock.release()

    @answers(JobqueueRename)
    async def rename(self, call: JobqueueRename) -> None:
        """Move copies of job files to the archive."""
        for old, new in call.renames:
            if not JOB_FILE.fullmatch(old) or not ARCHIVED_FILE.fullmatch(new):
                raise JobQueueError(f"cannot rename {old[:60]!r} to {new[:60]!r} in the job queue")
        await self._lock.acquire()
        try:
            await self.terms.admit(call.stamp)
            into = set()
            for old, new in call.renames:
                self.terms.note(old, None if call.stamp is None else call.stamp.sequence)
                if self.files.exists(self.paths.queue_dir / old):
                    target = self.paths.queue_dir / new
                    self.files.rename(self.paths.queue_dir / old, target)
                    into.add(target.parent)
            await self._make_sure(into)
        finally:
            self._lock.release()

    async def _make_sure(self, into: Collection[Path]) -> None:
        """What was moved to these directories is not live again after a power cut: the master asks nobody anew for it."""
        if into:
            await self.files.make_sure([*into, self.paths.queue_dir])

    @answers(JobqueuePurge)
    async def purge(self, call: JobqueuePurge) -> None:
        """Remove every copy of a job, archived ones too, the serial number and the drain flag; what is newer stays."""
        await self._lock.acquire()
        try:
            await self.terms.admit(call.stamp)
            newer = self.terms.forget_before(None if call.stamp is None else call.stamp.sequence)
            purge(self.files, self.paths, newer)
        finally:
            self._lock.release()

    @answers(JobqueueSweep)
    async def sweep(self, call: JobqueueSweep) -> None:
        """Archive the copies of jobs that the master has not among its live ones any more.

        The first time in its term those that it has never known, as a former master had them alone, are set aside.
        """
        await self._lock.acquire()
        try:
            await self.terms.admit(call.stamp)
            if call.stamp is not None and not self.terms.is_of_this_term("queue", call.stamp):
                self._set_aside(call.up_to, call.stamp)
            await self._make_sure(sweep(self.files, self.paths, set(call.live), call.up_to))
            await self.terms.written("queue", call.stamp)
        finally:
            self._lock.release()

    def _set_aside(self, last_id: int, stamp: Stamp) -> None:
        """What is above the last id that the master had given then, and was not sent since."""

        def is_foreign(number: int) -> bool:
            return self.terms.is_newer(f"job-{number}", stamp.sequence)

        lost = set_aside(self.files, self.paths, is_foreign, last_id)
        if lost:
            ids = ", ".join(map(str, lost[:20]))
            log.warn(
                "{count} jobs that only a former master knew are in {directory} now: {ids}",
                count=len(lost),
                directory=str(self.paths.queue_lost_dir),
                ids=ids,
            )

    @answers(JobqueueDigests)
    async def digests(self, call: JobqueueDigests) -> dict[str, str]:
        """Of the files asked for that are here."""
        found = {}
        for name in call.names:
            if not QUEUE_FILE.fullmatch(name):
                raise JobQueueError(f"not a file of the job queue: {name[:60]!r}")
            path = self.paths.queue_dir / name
            if self.files.exists(path):
                found[name] = digest_of(self.files.read(path, MAX_FILE))
        return found

    @answers(JobqueueSetDrainFlag)
    async def set_drain_flag(self, call: JobqueueSetDrainFlag) -> None:
        """Make or remove the flag's file."""
        await self._lock.acquire()
        try:
            await self.terms.admit(call.stamp)
            sequence = None if call.stamp is None else call.stamp.sequence
            if not self.terms.is_newer(DRAIN, sequence):
                return
            self.terms.note(DRAIN, sequence)
            if call.drained:
                await self.files.write_atomic(self.paths.queue_drain_file, b"", DRAIN_MODE)
            elif self.files.exists(self.paths.queue_drain_file):
                self.files.remove(self.paths.queue_drain_file)
        finally:
            self._lock.release()
