"""One process at a time holds a file."""

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import LockError
from ganeti_tx.runtime.file_lock import hold


class FileLockTests(SynchronousTestCase):
    """Holding and releasing."""

    def setUp(self) -> None:
        """A path with no file."""
        self.path = Path(self.mktemp())

    def test_held_once(self) -> None:
        """The second is refused by name, until the first lets go; the file stays."""
        held = hold(self.path, 0o640)
        failure = self.assertRaises(LockError, hold, self.path, 0o640)
        self.assertEqual(str(failure), f"{self.path} is locked by another process")
        held.release()
        held.release()
        self.assertTrue(self.path.exists())
        hold(self.path, 0o640).release()

    def test_mode(self) -> None:
        """The mode is the one asked for, whatever the umask."""
        self.addCleanup(os.umask, os.umask(0o077))
        held = hold(self.path, 0o640)
        self.addCleanup(held.release)
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o640)

    def test_not_inherited(self) -> None:
        """A program that is started does not hold the lock on."""
        held = hold(self.path, 0o640)
        self.addCleanup(held.release)
        self.assertFalse(os.get_inheritable(held._descriptor))

    def test_nowhere(self) -> None:
        """A directory that is missing is no lock that another holds."""
        self.assertRaises(FileNotFoundError, hold, self.path / "below", 0o640)
