"""One process at a time holds a file."""

import os
import signal
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import LockError
from ganeti_tx.runtime.file_lock import HeldFile, hold


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

    def waited(self, number: int, frame: object) -> None:
        """Whoever would wait for ever fails."""
        self.fail("it waits")

    def test_pipe(self) -> None:
        """Nobody waits at a pipe that somebody has put there, nor follows a link, nor changes what has another name."""
        other = self.path.with_name(f"{self.path.name}-other")
        os.mkfifo(self.path)
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, self.waited))
        self.addCleanup(signal.alarm, 0)
        signal.alarm(5)
        self.assertIn(
            "is no regular file with one name, so it is not used",
            str(self.assertRaises(OSError, hold, self.path, 0o640)),
        )
        self.path.unlink()
        other.touch(0o604)
        self.path.hardlink_to(other)
        self.assertRaises(OSError, hold, self.path, 0o640)
        self.assertEqual(other.stat().st_mode & 0o777, 0o604)
        self.path.unlink()
        self.path.symlink_to(other)
        self.assertRaises(OSError, hold, self.path, 0o640)

    def test_protected(self) -> None:
        """A file that is there is opened without O_CREAT: root may not open another user's with it in a shared directory."""
        self.path.touch()
        opened: list[int] = []
        real = os.open

        def watched(path: Path, flags: int, mode: int = 0o777) -> int:
            opened.append(flags & os.O_CREAT)
            return real(path, flags, mode)

        self.patch(os, "open", watched)
        hold(self.path, 0o640).release()
        self.assertEqual(opened, [0])

    def test_replaced(self) -> None:
        """A file that is replaced each time before it can be locked costs no more than some attempts."""
        self.patch(HeldFile, "is_in_place", lambda held: False)
        self.assertIn("was replaced 100 times", str(self.assertRaises(LockError, hold, self.path, 0o640)))

    def test_nowhere(self) -> None:
        """A directory that is missing is no lock that another holds."""
        self.assertRaises(FileNotFoundError, hold, self.path / "below", 0o640)
