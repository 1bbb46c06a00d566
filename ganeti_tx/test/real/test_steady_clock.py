"""Which daemons go on when the time of the day is set back."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.programs import SmallCluster, until

#: Seconds for a process that does what it is to do.
LIMIT = 5

PROGRAM = """
import time
from twisted.internet import reactor
from ganeti_tx.{part} import tap
tap.makeService(tap.Options())
assert not reactor.getDelayedCalls()
assert reactor.seconds is time.monotonic
"""


class SteadyDaemonTests(SynchronousTestCase):
    """Daemons that are put together, each in a process of its own, but not run."""

    def test_daemons(self) -> None:
        """All measure time by the monotonic clock."""
        with tempfile.TemporaryDirectory(prefix="gtx") as root:
            for part in ("node", "confd", "mond", "master", "luxid", "wconfd", "rapi"):
                environ = {**os.environ, "GANETI_ROOTDIR": root, "GANETI_HOSTNAME": "node1"}
                ended = subprocess.run(
                    [sys.executable, "-c", PROGRAM.format(part=part)], env=environ, capture_output=True, timeout=60
                )
                self.assertEqual((ended.returncode, ended.stderr), (0, b""), part)


#: A program that a job process, or a command that needs a reactor, is started by. Its time of the day is set back by an hour as
#: soon as something is to be done in a moment: only its own, which Python and Twisted ask for.
SET_BACK = """
import sys, time
real, error = time.time, [0.0]
time.time = lambda: real() + error[0]
from twisted.internet import reactor
from ganeti_tx.runtime.steady_clock import steady
{steady}
def later():
    print("done", flush=True)
    reactor.stop()
reactor.callWhenRunning(lambda: (reactor.callLater(0.2, later), error.__setitem__(0, -3600.0)))
reactor.run()
"""


class SetBackTests(SynchronousTestCase):
    """A process whose time of the day is set back by an hour while something is to be done in a moment."""

    def ended(self, steady: str) -> bytes:
        """What it has done within a few seconds."""
        program = SET_BACK.format(steady=steady)
        try:
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=LIMIT, check=True)
        except subprocess.TimeoutExpired:
            return b""
        return done.stdout

    def test_steady(self) -> None:
        """A steady reactor does it; Twisted's own would wait for an hour, which shows that the test would tell."""
        self.assertEqual(self.ended("steady(reactor)"), b"done\n")
        self.assertEqual(self.ended(""), b"")


#: What Python imports first in each process of the cluster: the time of the day is wrong by as many seconds as a file says.
WRONG = """
import time
real = time.time
def told():
    try:
        with open({file!r}) as file:
            return real() + float(file.read())
    except (OSError, ValueError):
        return real()
time.time = told
time.time_ns = lambda: int(told() * 1e9)
"""


class WrongClockTests(SynchronousTestCase):
    """A cluster of one node with real processes, whose time of the day, and nobody else's, is set while they run."""

    def setUp(self) -> None:
        """A new cluster."""
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        self.error = Path(directory.name) / "error"
        (Path(directory.name) / "sitecustomize.py").write_text(WRONG.format(file=str(self.error)))
        self.cluster = SmallCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.programs.python_path.append(directory.name)
        self.cluster.init()

    def set_clock(self, error: float) -> None:
        """Every process of the cluster has this time of the day from now on."""
        beside = self.error.with_name("new")
        beside.write_text(str(error))
        beside.rename(self.error)

    def job(self, job_id: int) -> dict[str, Any]:
        """A job's file."""
        found: dict[str, Any] = json.loads((self.cluster.node.root / f"var/lib/ganeti/queue/job-{job_id}").read_bytes())
        return found

    def reaches(self, job_id: int, status: str) -> None:
        """Wait until a job's only opcode has a status."""
        until(lambda: self.job(job_id)["ops"][0]["status"] == status, f"job {job_id} to be {status}")

    def test_jobs_go_on(self) -> None:
        """A job that runs when the clock is set back by an hour, or forward by a day, ends as it would have; so do later ones."""
        for error in (-3600.0, 86400.0, 0.0):
            job_id = self.cluster.submit("gnt-debug", "delay", "2")
            self.reaches(job_id, "running")
            self.set_clock(error)
            self.reaches(job_id, "success")
            wrong = self.job(job_id)["end_timestamp"][0] - time.time()
            self.assertLess(abs(wrong - error), 600, "the clock was not set")
            self.cluster.must("gnt-cluster", "verify")
            self.assertIn("node1", self.cluster.must("gnt-node", "list"))
