"""What is told of a transfer's process that begins, ends or dies while somebody looks."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.transfer.processes import TransferProcesses
from ganeti_tx.node.transfer.spec import LOCK, STATUS, Status
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import claim_pid_file
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.process import FakeProcessRunner


class WatchedFiles(RealFiles):
    """Something happens when the status is read, before it is, and the first time only."""

    before: Callable[[], object] = staticmethod(lambda: None)

    def read(self, path: Path, limit: int, *, links: bool = True) -> bytes:
        """See `IFiles`."""
        if path.name == STATUS:
            now, self.before = self.before, lambda: None
            now()
        return super().read(path, limit, links=links)


class StatusTests(SynchronousTestCase):
    """A transfer whose process is this one, as far as the lock tells."""

    def setUp(self) -> None:
        paths = Paths(Path(os.path.realpath(self.mktemp())))
        self.directory = paths.import_export_dir / "t"
        self.directory.mkdir(parents=True)
        self.files = WatchedFiles(InlineThreads())
        self.ends = TransferProcesses(self.files, paths, FakeProcessRunner(), Clock())

    def write(self, exit_status: int | None = None) -> None:
        """The process tells how it is."""
        (self.directory / STATUS).write_bytes(msgspec.json.encode(Status(exit_status=exit_status)))

    def begin(self) -> None:
        """The process is there, and tells of itself."""
        held = claim_pid_file(self.directory / LOCK)
        self.addCleanup(held.release)
        self.write()

    def told(self) -> tuple[int | None, str]:
        """How it ended, and why."""
        status = self.successResultOf(Deferred.fromCoroutine(self.ends.status("t")))
        assert status is not None
        return status.exit_status, status.error_message or ""

    def test_begins(self) -> None:
        """One that begins between the look for it and the look at what it tells has not died."""
        self.files.before = self.begin
        self.assertEqual(self.told(), (None, ""))

    def test_ends(self) -> None:
        """One that ends in between has ended as it says."""
        self.write()
        reads: list[None] = []

        def end() -> None:
            reads.append(None)
            self.files.before = lambda: self.write(0)

        self.files.before = end
        self.assertEqual((self.told(), len(reads)), ((0, ""), 1))

    def test_died(self) -> None:
        """One that is gone without a word of its end has died."""
        self.write()
        self.assertEqual(self.told(), (1, "its process has died"))
