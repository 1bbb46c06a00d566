"""The real files keep the contract, and leave nothing half done."""

import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SkipTest
from zope.interface import implementer

from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.files_leftovers import is_temporary
from ganeti_tx.runtime.threads import InlineThreads, IThreads
from ganeti_tx.test.contracts.files import FilesContract
from ganeti_tx.test.fakes.files import MemoryFiles


class RealFilesTests(FilesContract):
    """The contract on the disk."""

    def setUp(self) -> None:
        """An empty directory."""
        self.files = RealFiles(InlineThreads())
        self.top = Path(self.mktemp()).absolute()
        self.top.mkdir(parents=True)

    def test_pipe(self) -> None:
        """A pipe in a file's place holds nobody up."""
        os.mkfifo(self.top / "file")
        self.assertEqual(self.assertRaises(OSError, self.files.read, self.top / "file", 100).errno, errno.EINVAL)

    def test_owner_of_link(self) -> None:
        """A link is given away itself, never what it leads to."""
        if os.geteuid() != 0:
            raise SkipTest("only root can give a file to somebody else")
        (self.top / "file").touch()
        (self.top / "link").symlink_to("file")
        self.files.set_owner(self.top / "link", 65534, 65534)
        self.assertEqual((self.top / "file").stat().st_uid, 0)
        self.assertEqual((self.top / "link").lstat().st_uid, 65534)

    def test_crash_leftovers_are_hidden(self) -> None:
        """A temporary file that a crash left is not listed."""
        (self.top / ".file.1-1.tmp").touch()
        self.assertEqual(self.files.listdir(self.top), [])
        self.assertFalse(is_temporary(".bashrc"))

    def test_disk_that_takes_no_more(self) -> None:
        """When the content cannot be written, the old file stays and no temporary one is left."""
        path = self.top / "file"
        path.write_bytes(b"old")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
        self.assertEqual(self.error_of(self.files.write_atomic(path, bytes(2 << 20))), errno.EFBIG)
        self.assertEqual(os.listdir(self.top), ["file"])
        self.assertEqual(path.read_bytes(), b"old")

    def test_newest_write_stays(self) -> None:
        """Threads that finish out of order leave what was asked for last."""
        threads = HeldThreads()
        files = RealFiles(threads)
        writes = [
            Deferred.fromCoroutine(files.write_atomic(self.top / "file", b"first")),
            Deferred.fromCoroutine(files.write_many({self.top / "file": b"second", self.top / "other": b"1"})),
            Deferred.fromCoroutine(files.write_atomic(self.top / "file", b"third")),
        ]
        for call in reversed(threads.calls):
            call()
        for write in writes:
            self.successResultOf(write)
        self.assertEqual((self.top / "file").read_bytes(), b"third")
        self.assertEqual(sorted(os.listdir(self.top)), ["file", "other"])


@implementer(IThreads)
class HeldThreads:
    """Keeps each call until the test makes it."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def run(self, func: Callable[..., Any], *args: object) -> Deferred[Any]:
        """See `IThreads`."""
        answer: Deferred[Any] = Deferred()
        self.calls.append(lambda: answer.callback(func(*args)))
        return answer


class MemoryFilesTests(FilesContract):
    """The contract in memory."""

    def setUp(self) -> None:
        """An empty directory."""
        self.files = MemoryFiles()
        self.top = Path("/top")
        self.files.mkdir(self.top)

    def test_fault(self) -> None:
        """An injected fault is raised in the place of the operation, which leaves everything as it was."""
        path = self.top / "file"
        self.make_sure(self.files.write_atomic(path, b"old"))
        asked: list[tuple[str, Path]] = []

        def full(operation: str, path: Path) -> OSError:
            asked.append((operation, path))
            return OSError(errno.ENOSPC, "No space left on device")

        files = self.files
        assert isinstance(files, MemoryFiles)
        files.fault = full
        self.assertEqual(self.error_of(files.write_atomic(path, b"new")), errno.ENOSPC)
        self.assertEqual(self.error_of(files.write_many({path: b"new"})), errno.ENOSPC)
        files.fault = None
        self.assertEqual(files.read(path, 3), b"old")
        self.assertEqual(asked, [("write_atomic", path), ("write_many", path)])

    def test_listeners(self) -> None:
        """Whoever listens hears of each file that changed."""
        files = self.files
        assert isinstance(files, MemoryFiles)
        heard: list[Path] = []
        files.listeners.append(heard.append)
        self.make_sure(files.write_atomic(self.top / "one", b""))
        files.rename(self.top / "one", self.top / "two")
        files.remove(self.top / "two")
        self.assertEqual([path.name for path in heard], ["one", "one", "two", "two"])


del FilesContract  # trial would run it on its own
