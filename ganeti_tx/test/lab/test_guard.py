"""However tests end, nothing of their lab stays; what machines said is kept when a test fails."""

import os
import subprocess
import sys
import time
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from twisted.trial.reporter import TestResult
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.test.lab.case import KeptLogs
from ganeti_tx.test.lab.lab import Lab, missing
from ganeti_tx.test.lab.processes import MARK
from ganeti_tx.test.run_all import ROOT, RUN_VARIABLE

BEGIN = """
import sys, time
from pathlib import Path
from ganeti_tx.test.lab.guard import Guard
from ganeti_tx.test.lab.lab import Lab
state = Path(sys.argv[1])
Guard.over(state)
"""
MACHINE = "Lab(state).up(1)\n"
ONLY_A_NETWORK = "Lab(state).network.up()\n"
WAIT = "time.sleep(1000)\n"
#: Seconds until it runs, and until nothing may be left.
LIMIT = 100.0


def marked(state: Path) -> list[str]:
    """The processes that live for the lab in a directory."""
    mark = f"{MARK}={state}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "comm").read_text().strip())
        except OSError:
            continue
    return found


class GuardTests(SynchronousTestCase):
    """A process that has a lab, and is killed."""

    def begun(self, script: str, run: int, wanted: str) -> "tuple[subprocess.Popen[bytes], Path]":
        """Such a process, when this program runs for its lab; and the lab's directory."""
        if (reason := missing()) is not None:
            raise SkipTest(reason)
        state = Path(mkdtemp(prefix="ganeti-lab-", dir="/var/tmp"))
        process = subprocess.Popen(
            [sys.executable, "-c", BEGIN + script + WAIT, str(state)],
            env={**os.environ, "PYTHONPATH": str(ROOT), RUN_VARIABLE: str(run)},
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + LIMIT
        while wanted not in marked(state):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        return process, state

    def check_gone(self, state: Path) -> None:
        """Nothing runs any more, nothing lies about."""
        deadline = time.monotonic() + LIMIT
        while (state.exists() or marked(state)) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual((marked(state), state.exists()), ([], False))

    def test_killed(self) -> None:
        """The machine, though it is still being booted, its network and its files go with who had them."""
        process, state = self.begun(MACHINE, os.getpid(), "qemu-system-x86")
        process.kill()
        self.check_gone(state)

    def test_run_killed(self) -> None:
        """They go with the run of all tests, too, though the tests themselves may not have noticed."""
        run = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(run.kill)
        _process, state = self.begun(ONLY_A_NETWORK, run.pid, "sleep")
        run.kill()
        run.wait()
        self.check_gone(state)


class LogsTests(SynchronousTestCase):
    """A test that fails."""

    def test_kept(self) -> None:
        """Its failure names where all is that the machines said, and shows the last of it."""
        top = Path(self.mktemp()).absolute()
        (top / "cluster/outside/var/log/ganeti").mkdir(parents=True)
        (top / "cluster/outside/var/log/ganeti/master-daemon.log").write_text("first\n" + "said\n" * 50 + "the last\n")
        (top / "lab.json").write_text('{"count": 1, "init": "quick", "image": "/none", "program": "/none"}')
        (top / "node1.log").write_text("panic\n")

        class Failing(KeptLogs):
            def labs(self) -> list[Lab]:
                return [Lab(top)]

            def test_it(self) -> None:
                self.assertEqual("web1 is up", "web1 is down")

        result = TestResult()
        Failing("test_it").run(result)
        said = str(result.failures[0][1])
        for part in ("web1 is up", "panic", "the last", "node1-power\nit is off"):
            self.assertIn(part, said)
        self.assertNotIn("first", said)
        kept = Path(said.partition("said is in ")[2].partition(";")[0])
        self.addCleanup(rmtree, kept)
        self.assertIn("first", (kept / "outside-master-daemon").read_text())
