"""What a release holds: everything that is in the repository, and nothing else."""

import subprocess
import sys
import tempfile
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

import ganeti_tx
from ganeti_tx.runtime.shipped import shipped

ROOT = Path(ganeti_tx.__file__).parents[1]
#: What setuptools adds of its own.
ADDED = "ganeti_tx.egg-info/"


class ReleaseTests(SynchronousTestCase):
    """The source distribution."""

    def lines(self, *argv: str) -> set[str]:
        """A program's output."""
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return set(done.stdout.splitlines())

    def test_complete(self) -> None:
        """It has every file of the repository, and no other."""
        if not (ROOT / ".git").exists():
            raise SkipTest("this is no clone")
        tracked = self.lines("git", "ls-files", "--cached", "--others", "--exclude-standard")
        present = {name for name in tracked if (ROOT / name).exists()}
        with tempfile.TemporaryDirectory() as directory:
            self.lines(sys.executable, "setup.py", "-q", "egg_info", "--egg-base", directory)
            listed = (Path(directory) / "ganeti_tx.egg-info/SOURCES.txt").read_text().splitlines()
        released = {name for name in listed if ADDED not in name}
        # setuptools adds MANIFEST.in to the archive though it may not list it
        self.assertEqual((present - {"MANIFEST.in"}) ^ (released - {"MANIFEST.in"}), set())

    def test_shipped(self) -> None:
        """The OS definition and the provider are found, and their scripts can be run."""
        for script in ("attach", "create", "detach", "grow", "remove", "setinfo", "verify"):
            self.assertTrue((shipped("extstorage/iscsi") / script).stat().st_mode & 0o111, script)
        for script in ("create", "export", "import", "rename", "verify", "make-guest"):
            self.assertTrue((shipped("os/busybox") / script).stat().st_mode & 0o111, script)
        self.assertTrue(shipped("systemd/ganeti-noded.service").is_file())
