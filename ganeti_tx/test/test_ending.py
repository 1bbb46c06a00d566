"""What a program has started ends with it, in whatever way it ends, and however far away the other has gone."""

import contextlib
import signal
import subprocess
import sys
import time
from os import kill
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.lab.processes import started
from ganeti_tx.test.run_all import ROOT

#: A daemon with an environment, a session and a parent of its own; and the one that is spared.
SCRIPT = """
import subprocess, sys, time
from pathlib import Path
from ganeti_tx.test.ending import with_all_ended
directory, seconds = Path(sys.argv[1]), float(sys.argv[2])

def work():
    for name in ("ended", "spared"):
        command = "setsid sleep 1000 > /dev/null 2>&1 & echo $! > {0}.new; mv {0}.new {0}".format(directory / name)
        subprocess.run(["env", "-i", "PATH=/usr/bin:/bin", "sh", "-c", command], check=True)
    time.sleep(seconds)
    sys.exit(3)

sys.exit(with_all_ended(work, spared=lambda pid: str(pid) == (directory / "spared").read_text().strip()))
"""
#: A unit of tests that leaves such a daemon and does not end.
UNIT = """
import subprocess, time
from twisted.trial.unittest import SynchronousTestCase

class Tests(SynchronousTestCase):
    def test_it(self):
        subprocess.run(["env", "-i", "PATH=/usr/bin:/bin", "sh", "-c", "setsid sleep 1000 & echo $! > {0}.new; mv {0}.new {0}"])
        time.sleep(1000)
"""
LIMIT = 60.0


class EndingTests(SynchronousTestCase):
    """Daemons that nothing of their starter is left on."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()).absolute()
        self.directory.mkdir()

    def pid(self, name: str) -> int:
        """Of a process that has told it."""
        deadline = time.monotonic() + LIMIT
        while not (self.directory / name).exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        pid = int((self.directory / name).read_text())
        self.addCleanup(self.end, pid)
        return pid

    def end(self, pid: int) -> None:
        """Leave nothing of a test that failed."""
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)

    def begin(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start a Python process."""
        process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_ended(self) -> None:
        """They end with the work; those that are to be spared live on; the status is that of the work."""
        process = self.begin("-c", SCRIPT, str(self.directory), "0")
        self.assertEqual(process.wait(LIMIT), 3)
        self.assertIsNone(started(self.pid("ended")))
        self.assertIsNotNone(started(self.pid("spared")))

    def test_killed(self) -> None:
        """So it is where the work does not heed that its end is asked for."""
        process = self.begin("-c", SCRIPT, str(self.directory), "1000")
        ended, _ = self.pid("ended"), self.pid("spared")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(LIMIT), 128 + signal.SIGTERM)
        self.assertIsNone(started(ended))

    def test_interrupted_run(self) -> None:
        """A run of tests that is interrupted has failed at once, and what its tests left running is gone."""
        unit = self.directory / "test_made.py"
        unit.write_text(UNIT.format(self.directory / "daemon"))
        for number in (signal.SIGINT, signal.SIGTERM):
            (self.directory / "daemon").unlink(missing_ok=True)
            process = self.begin("-m", "ganeti_tx.test.run_all", str(unit))
            daemon = self.pid("daemon")
            process.send_signal(number)
            said, _ = process.communicate(timeout=LIMIT)
            self.assertEqual((process.returncode, said.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))
            self.assertIsNone(started(daemon))
