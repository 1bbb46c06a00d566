"""Taking in a queue directory as somebody left it: nothing in it is fatal, and no number is given twice."""

from collections.abc import Iterable, Sequence

from attrs import frozen
from twisted.internet.defer import gatherResults
from twisted.logger import Logger

from ganeti_tx.errors import JobFileCorrupted
from ganeti_tx.queue.files.archive import Archive
from ganeti_tx.queue.files.job_file import is_spoiled, job_number, read_job
from ganeti_tx.queue.files.job_head import JobHead, head_of
from ganeti_tx.queue.files.lost_found import LostAndFound
from ganeti_tx.queue.job import QueuedJob
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import IThreads

log = Logger()

FILE_MODE = 0o640
DIRECTORY_MODE = 0o750
QUEUE_VERSION = "1\n"
#: The files and directories of the queue that are no job files.
KNOWN_NAMES = frozenset({"archive", "drain", "lock", "lost+found", "serial", "version"})
#: Job files read by one call in a thread, and calls at a time.
CHUNK, THREADS = 250, 4
MAX_SMALL_FILE = 64
#: No job number is longer.
MAX_DIGITS = 18

#: A job in memory: whole while something may still happen to it, else its head.
LiveJob = QueuedJob | JobHead
Fault = tuple[int, JobFileCorrupted | OSError]


@frozen
class QueueLoader:
    """Reads the directory, sets aside what is not what its name says, and tells of what it leaves alone."""

    files: IFiles
    paths: Paths
    threads: IThreads
    lost: LostAndFound

    async def load(self) -> tuple[dict[int, LiveJob], int]:
        """The live jobs in the order of their ids, and the last id ever used.

        @raise OSError: the directories cannot be made or listed.
        """
        for directory in (self.paths.queue_dir, self.paths.queue_archive_dir):
            self.files.mkdir(directory, DIRECTORY_MODE)
        names = await self.threads.run(self.files.listdir, self.paths.queue_dir)
        self._tell_foreign(names)
        ids = sorted(number for name in names if (number := job_number(name)) is not None)
        jobs = await self._read(ids)
        await self._check_version()
        return jobs, await self._check_serial(ids)

    def _tell_foreign(self, names: Iterable[str]) -> None:
        for name in foreign_names(names):
            log.warn("{path} does not belong to the queue; it is left alone", path=str(self.paths.queue_dir / name))

    async def _read(self, ids: Sequence[int]) -> dict[int, LiveJob]:
        jobs: dict[int, LiveJob] = {}
        step = CHUNK * THREADS
        for start in range(0, len(ids), step):
            chunks = [ids[at : at + CHUNK] for at in range(start, min(start + step, len(ids)), CHUNK)]
            for found, faults in await gatherResults([self.threads.run(self._read_some, chunk) for chunk in chunks]):
                jobs.update((job.id, job) for job in found)
                for fault in faults:
                    self._set_aside(*fault)
        return jobs

    def _read_some(self, ids: Sequence[int]) -> tuple[list[LiveJob], list[Fault]]:
        """Runs in a thread."""
        jobs: list[LiveJob] = []
        faults: list[Fault] = []
        for job_id in ids:
            try:
                job = read_job(self.files, self.paths, job_id)
            except FileNotFoundError:
                continue
            except (JobFileCorrupted, OSError) as error:
                faults.append((job_id, error))
            else:
                jobs.append(head_of(job) if job.finalized else job)
        return jobs, faults

    def _set_aside(self, job_id: int, error: JobFileCorrupted | OSError) -> None:
        path = self.paths.job_file(job_id)
        if is_spoiled(error):
            self.lost.set_aside(path, error)
        else:
            log.error("{path} is left out: {error}", path=str(path), error=error)

    async def _check_version(self) -> None:
        path = self.paths.queue_version_file
        if self.files.exists(path):
            text = self._small(path.name)
            if text == QUEUE_VERSION.strip():
                return
            self.lost.set_aside(
                path, f"it says {text!r}; this program writes queues of version {QUEUE_VERSION.strip()}"
            )
        await self._write(path.name, QUEUE_VERSION)

    async def _check_serial(self, ids: Sequence[int]) -> int:
        """The last id, which is in the file then: neither torn nor behind a job that is there."""
        path = self.paths.queue_serial_file
        written = 0
        if self.files.exists(path):
            text = self._small(path.name)
            if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS:
                written = int(text)
            else:
                self.lost.set_aside(path, f"it holds {text!r}, which is no job number; counting on from the newest job")
        archived = await self.threads.run(Archive(self.files, self.paths).highest)
        last_id = max(written, archived, *ids[-1:], *self.lost.job_ids())
        if last_id != written:
            log.warn("the queue's serial number is {last} now; the file said {was}", last=last_id, was=written)
        if last_id != written or not self.files.exists(path):
            await self._write(path.name, f"{last_id}\n")
        return last_id

    def _small(self, name: str) -> str:
        """The text of a file of few characters; what cannot be read is no text."""
        try:
            return self.files.read(self.paths.queue_dir / name, MAX_SMALL_FILE).decode("ascii", "replace").strip()
        except OSError as error:
            log.error("{name} of the queue cannot be read: {error}", name=name, error=error)
            return ""

    async def _write(self, name: str, text: str) -> None:
        try:
            await self.files.write_atomic(self.paths.queue_dir / name, text.encode(), FILE_MODE)
        except OSError as error:  # a full disk refuses new jobs soon enough; those that are there go on
            log.error("{name} of the queue cannot be written: {error}", name=name, error=error)


def foreign_names(names: Iterable[str]) -> list[str]:
    """Those of the names in the queue's directory that nothing of the queue has."""
    return [name for name in names if name not in KNOWN_NAMES and job_number(name) is None]
