"""What the dead left half written goes; what the living write stays."""

import os
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.files_leftovers import is_temporary, remove_leftovers, temporary_name


class LeftoverTests(SynchronousTestCase):
    """A directory with files of several processes."""

    def setUp(self) -> None:
        self.top = Path(self.mktemp())
        self.top.mkdir()
        dead = subprocess.Popen([sys.executable, "-c", ""])
        dead.wait()
        self.dead = dead.pid

    def make(self, *names: str) -> None:
        """Make files."""
        for name in names:
            (self.top / name).write_bytes(b"half")

    def left(self) -> set[str]:
        """What is there after a clean-up."""
        removed = {path.name for path in remove_leftovers([self.top, self.top / "missing"])}
        names = set(os.listdir(self.top))
        self.assertEqual(names & removed, set())
        return names

    def test_dead(self) -> None:
        """Temporary files of dead processes go, those of an earlier process with this one's id, and unlocked livelocks."""
        self.make(
            f".config.data.{self.dead}-0123abcd-7.tmp",
            f".job-1.{self.dead}-0123abcd-7-old.tmp",
            f".config.data.{self.dead}-3.tmp",
            f".config.data.{os.getpid()}-00000000-1.tmp",
            f".job_{self.dead}_1700000000.250000.new",
        )
        self.assertEqual(self.left(), set())

    def test_not_collected(self) -> None:
        """Those of a process go of which only the exit status is left: a machine's first process may collect it late."""
        ended = subprocess.Popen([sys.executable, "-c", ""])
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        self.addCleanup(ended.wait)
        self.make(f".locks.data.{ended.pid}-0123abcd-7.tmp")
        self.assertEqual(self.left(), set())

    def test_living(self) -> None:
        """Those of living processes stay, and whatever is called otherwise."""
        names = {
            temporary_name("config.data", 7),
            f".config.data.{os.getppid()}-0123abcd-7.tmp",
            f".job_{os.getppid()}_1700000000.250000.new",
            "config.data", ".hidden", "x.tmp", ".x.tmp",
        }  # fmt: skip
        self.make(*names)
        self.assertEqual(self.left(), names)

    def test_names(self) -> None:
        """Each write has its own name, which listings leave out."""
        one, two = temporary_name("a", 1), temporary_name("a", 1, "old")
        self.assertNotEqual(one, two)
        self.assertTrue(is_temporary(one) and is_temporary(two))
