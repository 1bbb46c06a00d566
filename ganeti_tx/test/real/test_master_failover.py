"""The master dies with a job under way, another node takes over, and the dead one comes back: three real nodes."""

import json
import os
import signal
import socket
from functools import partial
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.devcluster.running import running_daemons
from ganeti_tx.runtime.daemon_names import NODE, ON_ALL_NODES
from ganeti_tx.runtime.livelock import FlockLiveness
from ganeti_tx.runtime.livelock_holders import job_processes
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder
from ganeti_tx.test.real.programs import LIMIT, SmallCluster, until

DELAY = ("gnt-debug", "delay", "--submit")


def is_free(path: Path) -> bool:
    """Whether no process holds a pid file."""
    return holder(path) is None


class MasterFailoverTests(SynchronousTestCase):
    """Commands as an administrator types them, each on its node."""

    def setUp(self) -> None:
        """Three nodes; node1 is the master."""
        self.cluster = SmallCluster(3)
        self.addCleanup(self.cluster.close)
        self.cluster.init()
        self.node1, self.node2, self.node3 = self.cluster.layout.nodes
        for node in (self.node2, self.node3):
            self.cluster.must("gnt-node", "add", node.name)

    def must(self, node: DevNode, *argv: str) -> str:
        """What a command that succeeds writes."""
        done = self.cluster.programs.run(node, *argv)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def refused(self, node: DevNode, *argv: str, status: int = 1) -> str:
        """What a command that fails complains of."""
        done = self.cluster.programs.run(node, *argv)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stdout + done.stderr)
        return done.stderr

    def document(self, node: DevNode, name: str) -> Any:
        """A JSON file below a node's data directory."""
        return json.loads((node.root / "var/lib/ganeti" / name).read_bytes())

    def statuses(self, node: DevNode, *job_ids: int) -> list[str]:
        """The states of jobs' only opcodes."""
        return [self.document(node, f"queue/job-{job_id}")["ops"][0]["status"] for job_id in job_ids]

    def submit(self, node: DevNode, seconds: float, *options: str) -> int:
        """A job that only takes time."""
        return int(self.must(node, *DELAY, *options, str(seconds)).split()[-1])

    def kill(self, node: DevNode, *daemons: str) -> None:
        """As by a power cut, as far as these daemons and the jobs' processes are concerned."""
        paths = Paths(node.root)
        for process in job_processes(paths.livelock_dir, FlockLiveness()):
            os.kill(process, signal.SIGKILL)
        for path in map(paths.pid_file, daemons):
            held_by = holder(path)
            assert held_by is not None
            os.kill(held_by, signal.SIGKILL)
            until(partial(is_free, path), f"the end of {path}")

    def daemons(self, node: DevNode) -> set[str]:
        """What runs on a node."""
        return running_daemons(self.cluster.layout)[node]

    def configs(self) -> list[tuple[int, str]]:
        """The serial number and the master in each node's configuration."""
        found = [self.document(node, "config.data") for node in self.cluster.layout.nodes]
        return [(each["serial_no"], each["nodes"][each["cluster"]["master_node"]]["name"]) for each in found]

    def all_follow_node2(self) -> bool:
        """Whether all nodes have the same configuration, with node2 as the master."""
        found = set(self.configs())
        return len(found) == 1 and found.pop()[1] == self.node2.name

    def test_death(self) -> None:
        """The job that ran has failed and says why, the one that waited runs, and the old master comes back as a node."""
        self.must(self.node1, "gnt-cluster", "master-ping")
        running = self.submit(self.node1, 600)
        until(lambda: self.statuses(self.node2, running) == ["running"], "the copy of the job")
        waiting = self.queued_behind(running)
        self.kill(self.node1, "ganeti-master", "ganeti-noded")

        said = self.must(self.node2, "gnt-cluster", "master-failover")
        self.assertIn(f"jobs that {self.node1.name} had under way have failed: {running}", said)
        self.must(self.node2, "gnt-cluster", "master-ping")
        self.refused(self.node1, "gnt-cluster", "master-ping")
        op = self.document(self.node2, f"queue/job-{running}")["ops"][0]
        reason = f"master failed over from {self.node1.name} while the job ran"
        self.assertEqual((op["status"], op["result"]), ("error", ["OpExecError", [reason]]))
        until(lambda: self.statuses(self.node2, waiting) == ["success"], "the job that waited")

        self.must(self.node1, "ganeti-noded")
        self.must(self.node2, "gnt-cluster", "add-tags", "changed")
        until(self.all_follow_node2, "the configuration")  # with it comes the end of master daemons that are there
        text = self.refused(self.node1, "ganeti-master", status=11)
        self.assertIn(self.node2.name, text)
        self.assertEqual(self.must(self.node1, "gnt-cluster", "getmaster").strip(), self.node2.name)
        self.submit(self.node2, 0)  # each job is an occasion to bring the whole queue to who lacks it
        until(lambda: self.statuses(self.node1, running, waiting) == ["error", "success"], "the jobs")
        self.assertEqual(self.daemons(self.node1), {NODE, *ON_ALL_NODES})

    def queued_behind(self, job_id: int) -> int:
        """A job that waits in the queue until another is over, however that ends."""
        op = {
            "OP_ID": "OP_TEST_DELAY",
            "duration": 0,
            "depends": [[job_id, ["success", "error", "canceled"]]],
            "reason": [],
        }
        request = {"method": "SubmitJob", "args": [[op]], "version": None}
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(Paths(self.node1.root).query_socket))
            connection.sendall(json.dumps({key: value for key, value in request.items() if value}).encode() + b"\3")
            answer = json.loads(connection.recv(65536).rstrip(b"\3"))
        self.assertTrue(answer["success"], answer)
        return int(answer["result"])

    def test_planned(self) -> None:
        """A living master hands over; its job's process is ended; going back works too."""
        job = self.submit(self.node1, 600)
        until(lambda: self.statuses(self.node2, job) == ["running"], "the copy of the job")
        livelocks = Paths(self.node1.root).livelock_dir
        self.assertNotEqual(job_processes(livelocks, FlockLiveness()), [])
        self.assertIn("is the master already", self.refused(self.node1, "gnt-cluster", "master-failover"))
        self.must(self.node2, "gnt-cluster", "master-failover", "--ignore-offline-nodes")
        self.assertEqual(job_processes(livelocks, FlockLiveness()), [])
        self.assertEqual(self.daemons(self.node1), {NODE, *ON_ALL_NODES})
        self.assertEqual(self.statuses(self.node2, job), ["error"])
        self.must(self.node2, "gnt-cluster", "deactivate-master-ip", "--yes")
        self.must(self.node2, "gnt-cluster", "activate-master-ip")
        self.must(self.node1, "gnt-cluster", "masterfailover", "--ignore-offline-nodes=yes")
        self.assertEqual(self.daemons(self.node2), {NODE, *ON_ALL_NODES})
        self.must(self.node1, "gnt-cluster", "verify")

    def test_cut_off(self) -> None:
        """A master that runs on where nobody reaches it ends when the others refuse it, and says why; so do its jobs."""
        job = self.submit(self.node1, 600)
        until(lambda: self.statuses(self.node2, job) == ["running"], "the copy of the job")
        noded = holder(Paths(self.node1.root).pid_file("ganeti-noded"))
        assert noded is not None
        os.kill(noded, signal.SIGKILL)
        said = self.must(self.node2, "gnt-cluster", "master-failover")
        self.assertIn("taken for dead", said)
        paths = Paths(self.node1.root)
        self.assertIsNotNone(holder(paths.pid_file("ganeti-master")))
        self.cluster.programs.run(self.node1, *DELAY, "0")
        until(partial(is_free, paths.pid_file("ganeti-master")), "the end of the old master")
        until(lambda: job_processes(paths.livelock_dir, FlockLiveness()) == [], "the end of its jobs")
        log = paths.log_file("ganeti-master").read_text()
        self.assertIn("asking the other nodes who is the master", log)
        self.assertIn(f"fatal: {self.node1.name} is not the master", log)
        self.must(self.node1, "ganeti-noded")
        self.must(self.node2, "gnt-cluster", "add-tags", "changed")
        until(self.all_follow_node2, "the configuration")

    def test_without_quorum(self) -> None:
        """With two of three nodes gone the third is refused, unless it is told not to ask; so is a start."""
        self.kill(self.node1, "ganeti-master", "ganeti-noded")
        self.kill(self.node3, "ganeti-noded")
        text = self.refused(self.node2, "gnt-cluster", "master-failover")
        self.assertIn("only 1 of 3 nodes agree", text)
        self.assertIn("--no-voting --yes-do-it", text)
        self.refused(self.node2, "gnt-cluster", "master-failover", "--no-voting", status=1)
        self.must(self.node2, "gnt-cluster", "master-failover", "--no-voting", "--yes-do-it")
        self.must(self.node2, "gnt-cluster", "info")
        self.kill(self.node2, "ganeti-master")
        text = self.refused(self.node2, "ganeti-master", "--voting-timeout=1")
        self.assertIn("only 1 of 3 nodes agree", text)
        text = self.refused(self.node2, "gnt-cluster", "info")
        self.assertIn("it has ended, since it could not be the master: only 1 of 3 nodes agree", text)
        self.must(self.node2, "ganeti-master", "--no-voting", "--yes-do-it")

    def test_power_up(self) -> None:
        """After a power cut of the whole site the master waits for the other nodes, which come up later."""
        self.kill(self.node1, "ganeti-master", "ganeti-noded")
        for node in (self.node2, self.node3):
            self.kill(node, "ganeti-noded")
        starting = self.cluster.programs.start(self.node1, "ganeti-master")
        log = Paths(self.node1.root).log_file("ganeti-master")
        until(lambda: "waiting for the votes" in log.read_text(), "the vote")
        self.assertIsNone(starting.poll())
        self.must(self.node3, "ganeti-noded")
        said, _ = starting.communicate(timeout=LIMIT)
        self.assertEqual(starting.returncode, 0, said)
        self.must(self.node1, "gnt-cluster", "info")
