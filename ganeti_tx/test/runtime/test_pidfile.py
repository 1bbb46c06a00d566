"""A daemon runs once, and a crash is no hindrance."""

import fcntl
import os
import subprocess
import threading
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.errors import PidFileLockError
from ganeti_tx.runtime import pidfile
from ganeti_tx.runtime.pidfile import claim_pid_file, holder, was_abandoned

#: A user id that is not ours.
NOBODY = 65534


class PidFileTests(SynchronousTestCase):
    """Claiming and releasing."""

    def setUp(self) -> None:
        """A path with no file."""
        self.path = Path(self.mktemp())

    def test_claim(self) -> None:
        """A claimed pid file holds the process id and a newline; it is gone once released."""
        held = claim_pid_file(self.path)
        self.assertEqual(self.path.read_text(), f"{os.getpid()}\n")
        held.release()
        held.release()
        self.assertFalse(self.path.exists())

    def test_claimed_twice(self) -> None:
        """The second is refused with the pid of the first, whose file stays as it was."""
        held = claim_pid_file(self.path)
        self.addCleanup(held.release)
        failure = self.assertRaises(PidFileLockError, claim_pid_file, self.path)
        self.assertIn(f"is locked by process {os.getpid()}", str(failure))
        self.assertEqual(self.path.read_text(), f"{os.getpid()}\n")

    def test_stale(self) -> None:
        """A file that a crash left behind, even a longer one, is taken over."""
        self.path.write_text("1234567890123\n")
        held = claim_pid_file(self.path)
        self.addCleanup(held.release)
        self.assertEqual(self.path.read_text(), f"{os.getpid()}\n")

    def test_asked_about(self) -> None:
        """Whoever only asks about a file does not keep the next one from claiming it."""
        self.path.write_text("1\n")
        asking = os.open(self.path, os.O_RDONLY)
        fcntl.flock(asking, fcntl.LOCK_SH)
        timer = threading.Timer(0.02, os.close, [asking])
        timer.start()
        held = claim_pid_file(self.path)
        self.addCleanup(held.release)
        timer.join()
        self.assertEqual(holder(self.path), os.getpid())

    def test_of_somebody_else(self) -> None:
        """A file that another user has put there tells of his own processes only; root takes over what it claims."""
        if os.geteuid() != 0:
            raise SkipTest("only root can give a file to somebody else")
        self.path.write_text(f"{os.getpid()}\n")
        os.chown(self.path, NOBODY, NOBODY)
        theirs = os.open(self.path, os.O_RDONLY)
        fcntl.flock(theirs, fcntl.LOCK_EX)
        self.assertEqual((holder(self.path), was_abandoned(self.path)), (None, False))
        with subprocess.Popen(["sleep", "60"], user=NOBODY) as sleeper:
            self.addCleanup(sleeper.kill)
            self.path.write_text(f"{sleeper.pid}\n")
            self.assertEqual(holder(self.path), sleeper.pid)
            sleeper.kill()
        os.close(theirs)
        held = claim_pid_file(self.path)
        self.addCleanup(held.release)
        self.assertEqual(holder(self.path), os.getpid())

    def test_not_adopted(self) -> None:
        """Who had a file open, or a link or a pipe there, before root claims it has no say in what is there then."""
        if os.geteuid() != 0:
            raise SkipTest("only root can give a file to somebody else")
        self.path.touch()
        os.chown(self.path, NOBODY, NOBODY)
        theirs = os.open(self.path, os.O_RDWR)
        self.addCleanup(os.close, theirs)
        fcntl.flock(theirs, fcntl.LOCK_EX)
        held = claim_pid_file(self.path)
        os.pwrite(theirs, b"1\n", 0)
        self.assertEqual((holder(self.path), self.path.stat().st_uid), (os.getpid(), 0))
        held.release()
        other = self.path.with_name(f"{self.path.name}-other")
        other.write_text("kept")
        for plant in (lambda: self.path.symlink_to(other), lambda: os.mkfifo(self.path)):
            plant()
            os.chown(self.path, NOBODY, NOBODY, follow_symlinks=False)
            claim_pid_file(self.path).release()
        self.assertEqual(other.read_text(), "kept")

    def test_foreign(self) -> None:
        """Who is not root refuses another user's, by name, rather than write to it."""
        self.path.write_text("1\n")
        os.chmod(self.path, 0o666)
        if os.geteuid() == 0:
            os.chown(self.path, NOBODY, NOBODY)
        self.patch(os, "geteuid", lambda: 4711)
        text = str(self.assertRaises(PidFileLockError, claim_pid_file, self.path))
        self.assertEqual(text, f"{self.path} is not used, as it belongs to user {self.path.stat().st_uid}: remove it")
        self.assertEqual(self.path.read_text(), "1\n")

    def test_replaced(self) -> None:
        """A file that is replaced each time costs no more than some attempts."""
        self.patch(pidfile, "_is_still_at", lambda path, descriptor: False)
        text = str(self.assertRaises(PidFileLockError, claim_pid_file, self.path))
        self.assertIn("was replaced 100 times", text)

    def test_pipe(self) -> None:
        """Nobody waits at a pipe that somebody has put there."""
        os.mkfifo(self.path)
        self.assertEqual((holder(self.path), was_abandoned(self.path)), (None, True))

    def test_questions(self) -> None:
        """Who holds it; abandoned is only what is there and held by nobody."""
        self.assertEqual((holder(self.path), was_abandoned(self.path)), (None, False))
        held = claim_pid_file(self.path)
        self.assertEqual((holder(self.path), was_abandoned(self.path)), (os.getpid(), False))
        held.release()
        self.assertEqual((holder(self.path), was_abandoned(self.path)), (None, False))
        self.path.write_text("1234\n")
        self.assertEqual((holder(self.path), was_abandoned(self.path)), (None, True))
