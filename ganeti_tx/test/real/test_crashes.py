"""A devcluster whose processes die and come back: what becomes of its jobs."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.up import up

#: Seconds that anything here may take.
LIMIT = 60.0


class CrashTests(SynchronousTestCase):
    """A cluster of one node."""

    def setUp(self) -> None:
        """A new cluster."""
        if not (Path(sys.executable).parent / "gnt-debug").exists():
            raise SkipTest("the commands are not installed beside this Python")
        root = Path(tempfile.mkdtemp(prefix="gtx-"))
        self.addCleanup(shutil.rmtree, root)
        self.addCleanup(end_all, root)
        self.node = up(root, 1, []).nodes[0]

    def command(self, *argv: str) -> "subprocess.CompletedProcess[str]":
        """Run a command as on the node."""
        program = str(Path(sys.executable).parent / argv[0])
        return subprocess.run(
            [program, *argv[1:]],
            env=self.node.environment(os.environ),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )

    def submit(self, seconds: float) -> int:
        """The id of a new job that waits so long."""
        done = self.command("gnt-debug", "delay", "--submit", str(seconds))
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout.split()[-1])

    def job(self, job_id: int) -> dict[str, Any]:
        """A job's file."""
        found: dict[str, Any] = json.loads((self.node.root / f"var/lib/ganeti/queue/job-{job_id}").read_bytes())
        return found

    def until(self, what: Callable[[], bool]) -> None:
        """Wait for something."""
        deadline = time.monotonic() + LIMIT
        while not what():
            self.assertLess(time.monotonic(), deadline, "it did not come to pass")
            time.sleep(0.02)

    def status(self, job_id: int) -> str:
        """The status of a job's only opcode."""
        return str(self.job(job_id)["ops"][0]["status"])

    def end(self, daemon: str, number: signal.Signals) -> None:
        """Send a signal to a daemon and wait until it is gone."""
        process = int((self.node.root / f"var/run/ganeti/{daemon}.pid").read_text())
        os.kill(process, number)
        self.until(lambda: not Path(f"/proc/{process}").exists())

    def restart_master(self) -> None:
        """Start the master daemon and wait until it answers."""
        self.command("ganeti-master")
        self.until(lambda: self.command("gnt-job", "list").returncode == 0)

    def test_master_dies(self) -> None:
        """A job goes on without luxid; the next luxid finds its process again, and can tell it to stop."""
        for number in (signal.SIGKILL, signal.SIGTERM):
            job_id = self.submit(2)
            self.until(lambda job_id=job_id: self.status(job_id) == "running")  # type: ignore[misc]
            self.end("ganeti-master", number)
            self.restart_master()
            self.assertEqual(self.command("gnt-job", "watch", str(job_id)).returncode, 0)
            self.assertEqual(self.status(job_id), "success")

    def test_job_ends_without_master(self) -> None:
        """A job that ends while there is no luxid has ended as it did."""
        job_id = self.submit(0.5)
        self.until(lambda: self.status(job_id) == "running")
        self.end("ganeti-master", signal.SIGKILL)
        self.until(lambda: self.status(job_id) == "success")
        self.restart_master()
        self.assertEqual(self.status(job_id), "success")

    def test_job_process_dies(self) -> None:
        """A job whose process dies is an error that names the process; the next job runs."""
        job_id = self.submit(60)
        self.until(lambda: self.status(job_id) == "running")
        process = self.job(job_id)["process_id"]
        os.kill(process, signal.SIGKILL)
        self.until(lambda: self.status(job_id) == "error")
        self.assertIn(f"process {process} of job {job_id}", str(self.job(job_id)["ops"][0]["result"]))
        self.assertEqual(self.command("gnt-debug", "delay", "0").returncode, 0)

    def test_job_process_dies_without_master(self) -> None:
        """The same while there is no luxid: the next one finds it out."""
        job_id = self.submit(60)
        self.until(lambda: self.status(job_id) == "running")
        self.end("ganeti-master", signal.SIGKILL)
        os.kill(self.job(job_id)["process_id"], signal.SIGKILL)
        self.restart_master()
        self.until(lambda: self.status(job_id) == "error")

    def test_node_daemon_dies(self) -> None:
        """A node without a daemon is one clear line; after its restart the very next call succeeds."""
        argv = ("gnt-debug", "delay", "-n", self.node.name, "0")
        self.assertEqual(self.command(*argv).returncode, 0)
        self.end("ganeti-noded", signal.SIGKILL)
        done = self.command(*argv)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot reach node", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.command("ganeti-noded")
        self.until(lambda: (self.node.root / "var/run/ganeti/ganeti-noded.pid").exists())
        self.until(lambda: self.command(*argv).returncode == 0)

    def test_second_daemon(self) -> None:
        """A daemon that runs already is not started a second time; that is one line and a failure."""
        done = self.command("ganeti-noded", "--foreground")
        self.assertEqual(done.returncode, 1)
        fatal = [line for line in done.stdout.splitlines() if "fatal:" in line]
        self.assertEqual(len(fatal), 1)
        self.assertIn("it is running already", fatal[0])
        self.assertNotIn("Traceback", done.stdout + done.stderr)
