"""What is made of a queue directory as it is found."""

import errno
import os
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobQueueError
from ganeti_tx.queue.files.job_head import JobHead
from ganeti_tx.queue.files.loading import CHUNK, THREADS
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status, encode_job
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles


async def nowhere(files: dict[str, bytes]) -> None:
    """No candidates."""


def job(job_id: int, status: Status = Status.QUEUED) -> QueuedJob:
    """A job of one opcode."""
    op = QueuedOp(input={"OP_ID": "OP_TEST_DELAY", "duration": 1.0}, status=status)
    return QueuedJob(id=job_id, ops=[op], received_timestamp=(100, 5), end_timestamp=(200, 7))


class LoadingCase(SynchronousTestCase):
    """A queue directory that is filled by hand."""

    def setUp(self) -> None:
        """An empty one."""
        self.files: Any = MemoryFiles()
        self.paths = Paths()
        self.files.mkdir(self.paths.queue_dir)

    def write(self, name: str, data: bytes) -> Path:
        """Put a file into it."""
        path = self.paths.queue_dir / name
        self.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, data)))
        return path

    def loaded(self) -> JobStore:
        """A store that has read it."""
        store = JobStore(self.files, self.paths, nowhere, lambda renames: None)
        self.successResultOf(Deferred.fromCoroutine(store.load()))
        return store

    def add(self, store: JobStore, count: int = 1) -> list[int]:
        """The ids of new jobs."""
        return [each.id for each in self.successResultOf(Deferred.fromCoroutine(store.add(job, count)))]

    def lost(self) -> list[str]:
        """What was set aside."""
        directory = self.paths.queue_lost_dir
        return self.files.listdir(directory) if self.files.exists(directory) else []

    def read(self, name: str) -> bytes:
        """A file of the queue directory."""
        data: bytes = self.files.read(self.paths.queue_dir / name, 10**6)
        return data


class GoodTests(LoadingCase):
    """What is in order."""

    def test_open_and_ended(self) -> None:
        """Open jobs are there whole; of ended ones memory has the head, and the rest is read when it is asked for."""
        self.write("job-2", encode_job(job(2, Status.ERROR)))
        self.write("job-10", encode_job(job(10)))
        store = self.loaded()
        self.assertEqual(list(store.live), [2, 10])
        self.assertEqual([each.id for each in store.open_jobs], [10])
        head = store.live[2]
        self.assertIsInstance(head, JobHead)
        self.assertEqual((head.status, head.end_timestamp, head.priority), (Status.ERROR, (200, 7), 0))
        self.assertEqual(store.get(2), job(2, Status.ERROR))
        self.assertEqual(dict(store.jobs), {2: job(2, Status.ERROR), 10: job(10)})

    def test_many(self) -> None:
        """However many there are, each file is opened once, and no directory of the archive but the last is listed."""
        count = CHUNK * THREADS + 7
        for job_id in range(20_001, 20_001 + count):
            self.write(f"job-{job_id}", encode_job(job(job_id, Status.SUCCESS)))
        for job_id in (1, 10_000, 20_000):
            self.write(f"archive/{job_id // 10_000}/job-{job_id}", encode_job(job(job_id, Status.SUCCESS)))
        touched: list[tuple[str, str]] = []
        self.files.fault = lambda operation, path: touched.append((operation, path.name))
        store = self.loaded()
        self.assertEqual(list(store.live), list(range(20_001, 20_001 + count)))
        self.assertEqual(sum(name.startswith("job-") for operation, name in touched if operation == "read"), count)
        listed = [name for operation, name in touched if operation == "listdir"]
        self.assertEqual(sorted(listed), ["2", "archive", "queue"])

    def test_empty(self) -> None:
        """A queue that was never used gets its version and its serial number."""
        self.loaded()
        self.assertEqual((self.read("version"), self.read("serial")), (b"1\n", b"0\n"))


class SpoiledTests(LoadingCase):
    """What is not what it seems to be."""

    def test_set_aside(self) -> None:
        """Files that hold no job are moved to lost+found, said in the log, and their numbers never given again."""
        spoiled = {
            "job-3": b"",
            "job-4": encode_job(job(4))[:-9],
            "job-5": b"junk\xff",
            "job-6": encode_job(job(7)),
            "job-8": b"[]",
        }
        for name, data in spoiled.items():
            self.write(name, data)
        self.write("job-2", encode_job(job(2)))
        with capturedLogs() as logged:
            store = self.loaded()
        self.assertEqual(list(store.live), [2])
        self.assertEqual(self.lost(), sorted(spoiled))
        self.assertEqual({self.read(f"lost+found/{name}") for name in spoiled}, set(spoiled.values()))
        self.assertEqual(sum("lost+found" in str(event.get("to")) for event in logged), len(spoiled))
        self.assertEqual(self.add(store), [9])
        self.assertEqual(self.add(self.loaded()), [10])

    def test_number_in_lost_and_found(self) -> None:
        """A number counts even when nothing is left of its job but what was set aside."""
        self.write("lost+found/job-41.2", b"")
        self.assertEqual(self.add(self.loaded()), [42])

    def test_same_name_again(self) -> None:
        """What was set aside before is not overwritten."""
        for data in (b"one", b"two", b"three"):
            self.write("job-1", data)
            self.loaded()
        self.assertEqual(self.lost(), ["job-1", "job-1.1", "job-1.2"])
        self.assertEqual(self.read("lost+found/job-1"), b"one")

    def test_foreign(self) -> None:
        """What nobody of the queue has written is left alone, and said in the log."""
        names = ["job-abc", "job-", "job-007", "job-0", "job-1.bak", "notes", "job-\u0663", "job-" + "9" * 20]
        for name in names:
            self.write(name, b"mine")
        with capturedLogs() as logged:
            store = self.loaded()
        self.assertEqual(store.count, 0)
        self.assertEqual(self.lost(), [])
        told = {str(event.get("path")) for event in logged}
        self.assertTrue(told >= {str(self.paths.queue_dir / name) for name in names}, told)
        self.assertEqual(self.add(store), [1])

    def test_cannot_be_set_aside(self) -> None:
        """When even moving fails, the file stays, and the queue works all the same."""
        self.write("job-3", b"")
        self.files.fault = lambda operation, path: OSError(errno.EROFS, "read-only") if operation == "rename" else None
        store = self.loaded()
        self.assertEqual(self.add(store), [4])
        self.assertEqual(self.read("job-3"), b"")

    def unreadable(self, code: int) -> JobStore:
        """A queue in which job 3 cannot be read for that reason."""
        self.write("job-3", encode_job(job(3)))
        self.write("job-4", encode_job(job(4)))
        self.files.fault = lambda operation, path: (
            OSError(code, os.strerror(code)) if operation == "read" and path.name == "job-3" else None
        )
        return self.loaded()

    def test_unreadable(self) -> None:
        """A file that the disk does not give is set aside."""
        self.assertEqual(list(self.unreadable(errno.EIO).live), [4])
        self.assertEqual(self.lost(), ["job-3"])

    def test_no_fault_of_the_file(self) -> None:
        """A file that could not be read for want of something else is left where it is, for the next start."""
        self.assertEqual(list(self.unreadable(errno.EMFILE).live), [4])
        self.assertEqual(self.lost(), [])
        self.files.fault = None
        self.assertEqual(list(self.loaded().live), [3, 4])

    def test_spoiled_later(self) -> None:
        """An ended job whose file was spoiled since is set aside when somebody asks for it, and gone then."""
        self.write("job-3", encode_job(job(3, Status.SUCCESS)))
        store = self.loaded()
        self.write("job-3", b"{")
        self.assertIsNone(store.get(3))
        self.assertIsNone(store.find(3))
        self.assertEqual((store.count, self.lost()), (0, ["job-3"]))


class NumberTests(LoadingCase):
    """The serial number and the version."""

    def serial_after(self, text: bytes | None) -> int:
        """The next number when the file says so and job 7 is the newest in the queue, job 30012 in the archive."""
        if text is not None:
            self.write("serial", text)
        self.write("job-7", encode_job(job(7)))
        self.write("archive/3/job-30012", encode_job(job(30_012, Status.SUCCESS)))
        self.write("archive/4/job-12", b"")
        self.write("archive/999/README", b"")
        (number,) = self.add(self.loaded())
        return number

    def test_serial(self) -> None:
        """The file counts when it is ahead; else counting goes on from the newest job, archived ones too."""
        self.assertEqual(self.serial_after(b"40000\n"), 40_001)

    def test_serial_behind(self) -> None:
        """A file that is behind is put right."""
        self.assertEqual(self.serial_after(b"5\n"), 30_013)
        self.assertEqual(self.read("serial"), b"30013\n")

    def test_serial_missing(self) -> None:
        """Without the file the newest job tells."""
        self.assertEqual(self.serial_after(None), 30_013)

    def test_serial_torn(self) -> None:
        """What is no number is set aside; a number that is too long as well."""
        for text in (b"", b"12a\n", b"-5\n", b"\xff\xfe", b"7" * 100, b"7" * 30):
            self.assertEqual(self.serial_after(text), 30_013, text)
            self.files.remove(self.paths.job_file(30_013))
            self.write("serial", b"")
        self.assertEqual(len(self.lost()), 6)

    def test_version(self) -> None:
        """Another version is set aside and ours written; the jobs are read all the same."""
        self.write("version", b"2\n")
        self.write("job-7", encode_job(job(7)))
        self.assertEqual(list(self.loaded().live), [7])
        self.assertEqual((self.lost(), self.read("version")), (["version"], b"1\n"))

    def test_disk_full_at_start(self) -> None:
        """A queue whose serial number cannot be put right is served; only new jobs are refused."""
        self.write("job-7", encode_job(job(7)))
        full = OSError(errno.ENOSPC, "No space left on device")
        self.files.fault = lambda operation, path: full if operation.startswith("write") else None
        store = self.loaded()
        self.assertEqual(list(store.live), [7])
        error = self.failureResultOf(Deferred.fromCoroutine(store.add(job, 1)), JobQueueError).value
        self.assertIn("No space left", str(error))
        self.files.fault = None
        self.assertEqual(self.add(store), [9])


class RealDirectoryTests(LoadingCase):
    """What files in memory cannot be."""

    def setUp(self) -> None:
        """A directory on the disk."""
        self.files = RealFiles(InlineThreads())
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.files.mkdir(self.paths.queue_dir)

    def test_directories_and_links(self) -> None:
        """A directory and a link in a circle with the names of job files are set aside; neither number is given again."""
        (self.paths.queue_dir / "job-5").mkdir()
        (self.paths.queue_dir / "job-5" / "inside").write_text("kept")
        (self.paths.queue_dir / "job-6").symlink_to("job-6")
        store = self.loaded()
        self.assertEqual(store.count, 0)
        self.assertEqual(self.lost(), ["job-5", "job-6"])
        self.assertEqual(self.read("lost+found/job-5/inside"), b"kept")
        self.assertEqual(self.add(store), [7])
