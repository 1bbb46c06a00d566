"""Real descriptors, pid files and livelocks when the system refuses."""

import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path
from threading import Barrier

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.files_calls import SystemCalls
from ganeti_tx.runtime.livelock import create_livelock
from ganeti_tx.runtime.pidfile import claim_pid_file
from ganeti_tx.runtime.threads import InlineThreads

#: More than are open.
NO_MORE = 0
#: Seconds for which a sync waits for others.
LONGEST = 20.0


class HaltingCalls(SystemCalls):
    """Takes three bytes at a time, and fails to sync after so many syncs."""

    def __init__(self, syncs: int) -> None:
        self.syncs = syncs

    def write(self, descriptor: int, data: memoryview) -> int:
        """A short write."""
        return os.write(descriptor, data[:3])

    def sync(self, descriptor: int) -> None:
        """Or not."""
        self.syncs -= 1
        if self.syncs < 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync(descriptor)


class MeetingCalls(SystemCalls):
    """Each sync waits until three others are under way; those of files with some name fail."""

    def __init__(self, spoiled: str) -> None:
        self.spoiled = spoiled
        self.meeting = Barrier(4)

    def sync(self, descriptor: int) -> None:
        """Or not."""
        self.meeting.wait(LONGEST)
        if self.spoiled in os.readlink(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync(descriptor)


class RealFaultTests(SynchronousTestCase):
    """A directory on this machine's disk."""

    def setUp(self) -> None:
        self.top = Path(self.mktemp()).absolute()
        self.top.mkdir()

    def error_of(self, work: Callable[[], object]) -> OSError:
        """What the work raises when no file can be opened."""
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (NO_MORE, limits[1]))
        try:
            return self.assertRaises(OSError, work)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    def write(self, files: RealFiles, data: bytes) -> "Deferred[None]":
        """Write the one file."""
        return Deferred.fromCoroutine(files.write_atomic(self.top / "file", data))

    def test_short_writes(self) -> None:
        """A disk that takes little at a time gets it all."""
        self.successResultOf(self.write(RealFiles(InlineThreads(), HaltingCalls(9)), b"0123456789"))
        self.assertEqual((self.top / "file").read_bytes(), b"0123456789")

    def test_failed_sync(self) -> None:
        """After a sync that failed the old content stays, nothing is left, and the next write is made anew."""
        files = RealFiles(InlineThreads(), HaltingCalls(1))
        self.successResultOf(self.write(files, b"old"))
        error = self.failureResultOf(self.write(files, b"new"), OSError).value
        self.assertEqual((error.errno, error.filename), (errno.EIO, str(self.top / "file")))
        self.assertIn("see the kernel's log", str(error))
        self.assertEqual({path.name: path.read_bytes() for path in self.top.iterdir()}, {"file": b"old"})
        self.successResultOf(self.write(RealFiles(InlineThreads()), b"new"))

    def test_synced_together(self) -> None:
        """Many files wait for the disk at the same time; when one of them fails, none is replaced, and it is named."""
        many = {self.top / f"job-{number}": b"new" for number in range(72)}
        written = RealFiles(InlineThreads(), MeetingCalls("never")).write_many(many)
        self.successResultOf(Deferred.fromCoroutine(written))
        self.assertEqual({path: path.read_bytes() for path in self.top.iterdir()}, many)
        later = RealFiles(InlineThreads(), MeetingCalls("job-70")).write_many(dict.fromkeys(many, b"newer"))
        error = self.failureResultOf(Deferred.fromCoroutine(later), OSError).value
        self.assertEqual((error.errno, error.filename), (errno.EIO, str(self.top / "job-70")))
        self.assertEqual({path: path.read_bytes() for path in self.top.iterdir()}, many)

    def test_too_many_open_files(self) -> None:
        """Each says which file it was about and what to do, leaves nothing, and works when files can be opened again."""
        files = RealFiles(InlineThreads())
        for name, work in {
            "file": lambda: self.failureResultOf(self.write(files, b"data")).raiseException(),
            "daemon.pid": lambda: claim_pid_file(self.top / "daemon.pid"),
            "job": lambda: create_livelock(self.top, "job", lambda: 1.0),
        }.items():
            error = self.error_of(work)
            self.assertEqual(error.errno, errno.EMFILE)
            self.assertIn(name, str(error.filename))
            self.assertIn("raise this program's limit of open files", str(error))
            self.assertEqual(list(self.top.iterdir()), [])
        self.successResultOf(self.write(files, b"data"))
        claim_pid_file(self.top / "daemon.pid").release()
        create_livelock(self.top, "job", lambda: 1.0).release()
