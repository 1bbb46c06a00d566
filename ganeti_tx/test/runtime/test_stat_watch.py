"""Files that change where another watch sees nothing."""

import shutil
from collections.abc import Callable
from pathlib import Path

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.runtime.file_watch import IFileWatch
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.stat_watch import INTERVAL, StatBeside
from ganeti_tx.runtime.threads import InlineThreads


@implementer(IFileWatch)
class Blind:
    """Tells of nothing, as inotify does of a directory that is not where it was."""

    def watch(self, directory: Path, changed: Callable[[str], None]) -> None:
        """As IFileWatch says."""

    def stop(self) -> None:
        """As IFileWatch says."""


class StatBesideTests(SynchronousTestCase):
    """A real directory with one file, and a clock."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()).absolute()
        self.directory.mkdir()
        (self.directory / "users").write_text("jack secret")
        self.clock = Clock()
        self.told: list[str] = []
        self.watch = StatBeside(Blind(), RealFiles(InlineThreads()), self.clock)
        self.watch.watch(self.directory, self.told.append)

    def heard(self) -> list[str]:
        """What was told within one interval."""
        self.told.clear()
        self.clock.advance(INTERVAL)
        return list(self.told)

    def test_in_place(self) -> None:
        """A file that is replaced, removed or new is told of once; others are not."""
        (self.directory / "roles").write_text("web read")
        self.assertEqual(self.heard(), ["roles"])
        self.assertEqual(self.heard(), [])
        beside = self.directory.parent / "users"
        beside.write_text("jill secret")
        beside.rename(self.directory / "users")
        self.assertEqual(self.heard(), ["users"])
        (self.directory / "users").unlink()
        self.assertEqual(self.heard(), ["users"])

    def test_directory_replaced(self) -> None:
        """A copy of the directory in its place, one that is away, and one that is back."""
        copy = self.directory.with_name("copy")
        shutil.copytree(self.directory, copy)
        (copy / "users").write_text("ann secret")
        self.directory.rename(self.directory.with_name("old"))
        self.assertEqual(self.heard(), ["users"])
        copy.rename(self.directory)
        self.assertEqual(self.heard(), ["users"])

    def test_listener_that_fails(self) -> None:
        """One failure does not end the watch."""

        def fail(name: str) -> None:
            raise ValueError(name)

        self.watch.watch(self.directory, fail)
        (self.directory / "users").write_text("other")
        self.assertEqual(self.heard(), ["users"])
        self.assertEqual(len(self.flushLoggedErrors(ValueError)), 1)
        (self.directory / "users").write_text("another one")
        self.assertEqual(self.heard(), ["users"])
        self.assertEqual(len(self.flushLoggedErrors(ValueError)), 1)

    def test_stop(self) -> None:
        """Then nobody looks any more."""
        self.watch.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])
