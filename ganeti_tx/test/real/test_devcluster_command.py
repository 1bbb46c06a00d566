"""ganeti-devcluster as a process: up, status, run, shell and down, and up again after everything was killed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.devcluster.layout import DevNode, load
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.supervising import is_held
from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.real.programs import Programs, until


class DevclusterTests(SynchronousTestCase):
    """A cluster of two nodes."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name) / "c"
        self.addCleanup(end_all, self.root)
        programs = Programs(Path(directory.name))
        nowhere = DevNode(name="", address="", root=Path())
        self.environment = {**programs.environment(nowhere), "SHELL": "/bin/pwd"}
        for name in ("GANETI_ROOTDIR", "GANETI_HOSTNAME"):
            del self.environment[name]

    def devcluster(self, *words: str, status: int = 0) -> str:
        """Run it; its output."""
        command = [sys.executable, "-m", "ganeti_tx.devcluster.main", *words]
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=120, check=False, cwd="/"
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout + done.stderr

    def test_life(self) -> None:
        """--root may stand before or after the command; what was killed comes back; nothing is left at the end."""
        root = f"--root={self.root}"
        self.assertIn("there is no devcluster", self.devcluster(root, "status", status=1))
        self.devcluster(root, "up", "--nodes", "2", "--no-supervisor", "--", "--enabled-hypervisors=fake")
        self.assertIn(
            "ganeti-confd, ganeti-master, ganeti-mond, ganeti-noded, ganeti-rapi", self.devcluster("status", root)
        )
        self.assertIn("node2", self.devcluster("run", root, "--", "gnt-node", "list"))
        self.assertIn("cluster.dev.example", self.devcluster(root, "run", "gnt-cluster", "info"))
        self.assertIn("no command", self.devcluster(root, "run", "no-such-command", status=1))
        self.assertIn("no node", self.devcluster(root, "run", "--node", "node9", "true", status=1))
        self.assertIn(str(load(self.root).node("node2").root), self.devcluster(root, "run", "--node", "node2", "env"))
        self.assertEqual(self.devcluster(root, "shell"), "/\n")

        node2 = load(self.root).node("node2").root / "var/run/ganeti/ganeti-noded.pid"
        os.kill(int(node2.read_text()), signal.SIGKILL)
        until(lambda: self.status().count("ganeti-noded") == 1, "the end of a daemon")
        self.devcluster(root, "up", "--no-supervisor")
        self.assertEqual(self.devcluster(root, "status").count("ganeti-noded"), 2)

        for process in set(processes_of(self.root)):
            os.kill(process, signal.SIGKILL)
        for node in load(self.root).nodes:
            shutil.rmtree(node.root / "var/run/ganeti")
        until(lambda: not set(processes_of(self.root)), "the end of all")
        self.devcluster(root, "up")
        self.devcluster(root, "run", "--", "gnt-debug", "delay", "0.01")
        self.supervised(root)

        self.assertIn("is gone", self.devcluster(root, "down"))
        self.assertIn("nothing to do", self.devcluster(root, "down"))
        self.assertEqual((set(processes_of(self.root)), self.root.exists()), (set(), False))

    def supervised(self, root: str) -> None:
        """Daemons that are killed come back, one that is stopped does not, nor do they start twice."""
        self.assertIn("are started again", self.devcluster(root, "status"))
        layout = load(self.root)
        for node, daemon in ((layout.nodes[1], "ganeti-noded"), (layout.nodes[0], "ganeti-master")):
            path = node.root / f"var/run/ganeti/{daemon}.pid"
            killed = path.read_text()
            os.kill(int(killed), signal.SIGKILL)
            until(lambda path=path, killed=killed: is_held(path) and path.read_text() != killed, f"another {daemon}")  # type: ignore[misc]
        until(lambda: self.status().count("ganeti-noded") == 2, "an answer")
        self.devcluster(root, "up")
        path = layout.nodes[1].root / "var/run/ganeti/ganeti-noded.pid"
        os.kill(int(path.read_text()), signal.SIGTERM)
        until(lambda: self.status().count("ganeti-noded") == 1, "the end of a daemon")
        log = (self.root / "supervisor.log").read_text()
        self.assertEqual(
            sorted(re.findall(r"(ganeti-\w+) on node\d.dev.example died", log)), ["ganeti-master", "ganeti-noded"]
        )

    def status(self) -> str:
        """What status says, whatever its own status is."""
        command = [sys.executable, "-m", "ganeti_tx.devcluster.main", "status", f"--root={self.root}"]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60, check=False, cwd="/"
        ).stdout
