"""Looking for instance allocators."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.init import check_allocator
from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.runtime.allocators import allocator_fault
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads


class AllocatorTests(SynchronousTestCase):
    """Programs in the directories of the search path."""

    def setUp(self) -> None:
        """One allocator in the last directory, and a file that is no program in the first."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        first, *_, last = self.paths.iallocator_search_path
        for path, mode in ((first / "text", 0o644), (last / "hail", 0o755)):
            path.parent.mkdir(parents=True)
            path.write_text("#!/bin/sh\n")
            path.chmod(mode)
        (last / "directory").mkdir()

    def fault(self, name: str) -> str | None:
        """What is wrong with one."""
        return allocator_fault(RealFiles(InlineThreads()), self.paths, name)

    def test_there(self) -> None:
        """A program in any of the directories is one."""
        self.assertIsNone(self.fault("hail"))

    def test_not_there(self) -> None:
        """A missing one, a file that is no program and a directory are none; the message says where it was looked for."""
        for name in ("nosuch", "text", "directory"):
            told = self.fault(name) or ""
            self.assertIn(f"there is no instance allocator {name!r}", told)
            for directory in self.paths.iallocator_search_path:
                self.assertIn(str(directory), told)

    def test_other_path(self) -> None:
        """Other directories, named when the machine was set up, stand in place of the usual ones."""
        other = self.paths.root / "srv/allocators"
        other.mkdir(parents=True)
        (other / "near").write_text("#!/bin/sh\n")
        (other / "near").chmod(0o755)
        self.paths.iallocator_search_file.parent.mkdir(parents=True, exist_ok=True)
        self.paths.iallocator_search_file.write_text("# a comment\n/srv/nothing\n/srv/allocators\n")
        self.assertIsNone(self.fault("near"))
        self.assertIn(
            f"looked for an executable program in {self.paths.root}/srv/nothing, {other}", self.fault("hail") or ""
        )

    def test_no_name(self) -> None:
        """A path leads nowhere."""
        for name in ("../iallocators/hail", "/bin/sh", ".", ".."):
            self.assertIn("invalid instance allocator" if "/" in name else name, self.fault(name) or "")

    def test_init(self) -> None:
        """A new cluster's default allocator must be on the machine; none needs none."""
        for name, count in (("nosuch", 1), ("hail", 0), ("", 0)):
            problems = Problems()
            check_allocator(self.paths, InitSettings(cluster_name="c", default_iallocator=name), problems)
            self.assertEqual(len(problems.found), count, problems.found)
