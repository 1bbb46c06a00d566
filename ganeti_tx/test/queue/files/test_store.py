"""Storing and archiving when the disk does not do as it is told."""

import errno
from collections.abc import Mapping
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobQueueError
from ganeti_tx.queue.files.job_head import JobHead
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.job import Status
from ganeti_tx.runtime.files import DEFAULT_FILE_MODE
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.queue.files.test_loading import job, nowhere

FULL = OSError(errno.ENOSPC, "No space left on device")


class BadDisk(MemoryFiles):
    """A disk that writes several files, and then says that it could not."""

    broken = False

    async def write_many(self, files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> None:
        """As IFiles."""
        await super().write_many(files, mode)
        if self.broken:
            raise OSError(errno.EIO, "Input/output error")


class StoreTests(SynchronousTestCase):
    """A store over files in memory."""

    def setUp(self) -> None:
        """An empty queue."""
        self.files = BadDisk()
        self.paths = Paths()
        self.files.mkdir(self.paths.data_dir)
        self.renames: list[object] = []
        self.store = self.loaded()

    def loaded(self) -> JobStore:
        """A store as after a restart."""
        store = JobStore(self.files, self.paths, nowhere, self.renames.append)
        self.successResultOf(Deferred.fromCoroutine(store.load()))
        return store

    def add(self, count: int = 1) -> list[int]:
        """New jobs."""
        return [each.id for each in self.successResultOf(Deferred.fromCoroutine(self.store.add(job, count)))]

    def refused(self) -> str:
        """Why a new job is refused."""
        return str(self.failureResultOf(Deferred.fromCoroutine(self.store.add(job, 2)), JobQueueError).value)

    def end(self, job_id: int) -> None:
        """Let a job end."""
        self.successResultOf(Deferred.fromCoroutine(self.store.put(job(job_id, Status.SUCCESS))))

    def archive(self, *job_ids: int) -> "Deferred[int]":
        """Archive jobs."""
        return Deferred.fromCoroutine(self.store.archive(job_ids))

    def on_disk(self) -> list[str]:
        """What is in the queue's directory."""
        return [name for name in self.files.listdir(self.paths.queue_dir) if name.startswith("job-")]

    def test_full(self) -> None:
        """On a full disk a submission fails in one line, nothing of it is left, its numbers are gone, and later all is well."""
        self.add()
        self.files.fault = lambda operation, path: FULL if operation.startswith("write") else None
        self.assertEqual(
            self.refused(),
            "cannot store the job in /var/lib/ganeti/queue: No space left on device; no job was submitted",
        )
        self.files.fault = None
        self.assertEqual((list(self.store.live), self.on_disk()), ([1], ["job-1"]))
        self.assertEqual(self.add(), [4])
        self.assertEqual(list(self.loaded().live), [1, 4])

    def test_only_serial_does_not_fit(self) -> None:
        """When the serial number alone cannot be written there is no job either."""
        self.files.fault = lambda operation, path: FULL if path.name == "serial" else None
        self.refused()
        self.assertEqual(self.on_disk(), [])

    def test_written_all_the_same(self) -> None:
        """A refused job whose file is there nevertheless is removed, so that it does not run after a restart."""
        self.files.broken = True
        self.refused()
        self.assertEqual(self.on_disk(), [])
        self.files.broken = False
        self.store = self.loaded()
        self.assertEqual(list(self.store.live), [])
        self.assertEqual(self.add(), [3])

    def test_ended(self) -> None:
        """Once a job has ended memory has its head only, and reads the rest when asked."""
        self.add(2)
        self.end(1)
        self.assertIsInstance(self.store.live[1], JobHead)
        self.assertEqual(self.store.get(1), job(1, Status.SUCCESS))
        self.assertEqual([each.id for each in self.store.open_jobs], [2])

    def test_archive_fails(self) -> None:
        """When a job cannot be moved the error names it; it is where it was, and those before it are archived everywhere."""
        self.add(3)
        for job_id in (1, 2, 3):
            self.end(job_id)
        self.files.fault = lambda operation, path: FULL if (operation, path.name) == ("rename", "job-2") else None
        text = str(self.failureResultOf(self.archive(1, 2, 3), JobQueueError).value)
        self.assertEqual(text, "job 2 cannot be moved to /var/lib/ganeti/queue/archive/0: No space left on device")
        self.assertEqual((list(self.store.live), self.on_disk()), ([2, 3], ["job-2", "job-3"]))
        self.assertEqual(self.renames, [[("job-1", "archive/0/job-1")]])
        self.files.fault = None
        self.assertEqual(self.successResultOf(self.archive(2, 3)), 2)
        self.assertEqual(list(self.loaded().live), [])

    def test_archive_what_is_gone(self) -> None:
        """A job whose file somebody took away is forgotten, and holds up no other."""
        self.add(3)
        for job_id in (1, 2, 3):
            self.end(job_id)
        for job_id in (1, 2):
            self.files.remove(self.paths.job_file(job_id))
        self.assertIsNone(self.store.get(1))
        self.assertEqual(self.successResultOf(self.archive(1, 2, 3)), 1)
        self.assertEqual(self.store.count, 0)

    def test_numbers_are_settled(self) -> None:
        """Who asks for the live jobs and the last number waits for a job that is just being stored."""
        self.add()
        self.store._numbering.acquire()
        asking = Deferred.fromCoroutine(self.store.numbered())
        self.assertNoResult(asking)
        self.store._numbering.release()
        self.assertEqual(self.successResultOf(asking), ([1], 1))
