"""The daemons as processes: how they start and refuse to, what they survive, and luxid and WConfD apart from each other."""

import os
import shutil
import signal
import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.daemons import WRONG_OPTIONS
from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.errors import ExitCode
from ganeti_tx.runtime.daemon_names import NODE, ON_ALL_NODES, RAPI
from ganeti_tx.test.real.programs import SmallCluster, is_gone, until

ALL = ("ganeti-master", "ganeti-luxid", "ganeti-wconfd", "ganeti-noded")
SERVICES = ("ganeti-rapi", "ganeti-confd", "ganeti-mond")
ON_MASTER = ("ganeti-master", "ganeti-luxid", "ganeti-wconfd")
APART = ("ganeti-wconfd", "ganeti-luxid")


class Refusals(SynchronousTestCase):
    """Daemons that cannot run say why in one line, and end with a status other than 0."""

    def fatal(self, cluster: SmallCluster, node: DevNode, daemon: str, *options: str, status: int = 1) -> str:
        """The one line with "fatal:", from a daemon that ended with a status."""
        done = cluster.programs.run(node, daemon, *options)
        said = [line for line in (done.stdout + done.stderr).splitlines() if "fatal:" in line]
        self.assertEqual((done.returncode, len(said)), (status, 1), done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stdout + done.stderr)
        return said[0]

    def test_no_cluster(self) -> None:
        """On a node that is part of no cluster none runs, neither here nor in the background."""
        cluster = SmallCluster()
        self.addCleanup(cluster.close)
        for daemon in (*ALL, *SERVICES):
            for options in ((), ("--foreground",)):
                said = self.fatal(cluster, cluster.node, daemon, *options, status=ExitCode.NODESETUP_ERROR)
                self.assertIn("not part of a cluster", said)

    def test_no_master(self) -> None:
        """On a node that is not the master only the node daemon runs, even if it has a copy of the configuration."""
        cluster = SmallCluster(2)
        self.addCleanup(cluster.close)
        cluster.init()
        master, other = cluster.layout.nodes
        shutil.copytree(master.root / "var/lib/ganeti", other.root / "var/lib/ganeti", dirs_exist_ok=True)
        for daemon in ON_MASTER:
            for options in ((), ("--foreground",)):
                said = self.fatal(cluster, other, daemon, *options, status=ExitCode.NOTMASTER)
                self.assertIn("node1.dev.example is", said)

    def test_running_already(self) -> None:
        """A second one is refused; ganeti-master counts for both its parts. The first goes on."""
        cluster = SmallCluster()
        self.addCleanup(cluster.close)
        cluster.init()
        process = cluster.process("ganeti-master")
        for daemon in ALL:
            self.assertIn("running already", self.fatal(cluster, cluster.node, daemon))
        self.assertEqual(cluster.process("ganeti-master"), process)
        cluster.must("gnt-cluster", "info")

    def test_wrong_options(self) -> None:
        """A wrong command line is told in one line that names the daemon, here and in the background."""
        cluster = SmallCluster()
        self.addCleanup(cluster.close)
        for options in (("--wrong",), ("--foreground", "--wrong"), ("word",)):
            done = cluster.programs.run(cluster.node, "ganeti-noded", *options)
            self.assertEqual(done.returncode, WRONG_OPTIONS, done.stderr)
            self.assertRegex(done.stderr, r"^ganeti-noded: [^\n]*(--wrong|'word')[^\n]*; see 'ganeti-noded --help'\n$")
            self.assertEqual(done.stdout, "")

    def test_relative_root(self) -> None:
        """A root directory that is not absolute is refused without a traceback."""
        cluster = SmallCluster()
        self.addCleanup(cluster.close)
        environment = {**cluster.programs.environment(cluster.node), "GANETI_ROOTDIR": "here"}
        code = "from ganeti_tx.daemons import noded; raise SystemExit(noded())"
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)


class LifeTests(SynchronousTestCase):
    """What the daemons survive."""

    def setUp(self) -> None:
        self.cluster = SmallCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.init()

    def delay(self, seconds: float) -> str:
        """Submit a job that takes a while and wait until it runs; its number."""
        number = str(self.cluster.submit("gnt-debug", "delay", str(seconds)))
        until(lambda: self.status(number) == "running", f"job {number} to run")
        return number

    def status(self, number: str) -> str:
        """A job's status; "" when nobody answers."""
        done = self.cluster.programs.run(self.cluster.node, "gnt-job", "list", "--no-headers", "-o", "status", number)
        return done.stdout.strip() if done.returncode == 0 else ""

    def ends_well(self, number: str) -> None:
        """A job comes to its end in success, and leaves no lock behind."""
        until(lambda: self.status(number) not in ("", "running", "waiting", "queued"), f"the end of job {number}")
        self.assertEqual(self.status(number), "success")
        until(lambda: len(self.cluster.must("gnt-debug", "locks").splitlines()) == 1, "the locks to be free")

    def test_foreground(self) -> None:
        """In the foreground it takes all down at SIGTERM, then ends by it as a program without handlers would."""
        self.cluster.end("ganeti-master", signal.SIGTERM)
        process = self.cluster.programs.start(self.cluster.node, "ganeti-master", "--foreground")
        until(self.answers, "an answer")
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGTERM, output)
        self.assertIn("ganeti-master is ready", output)
        run = self.cluster.node.root / "var/run/ganeti"
        left = {path.stem for path in run.glob("*.pid")}
        self.assertEqual(left, {NODE, *ON_ALL_NODES, RAPI})
        self.assertEqual(sorted(path.name for path in (run / "socket").iterdir()), [])

    def answers(self) -> bool:
        """Whether the master daemon does."""
        return self.cluster.programs.run(self.cluster.node, "gnt-cluster", "info").returncode == 0

    def test_hangup(self) -> None:
        """The signal at which Ganeti's daemons open their logs anew ends none of them."""
        daemons = ("ganeti-master", NODE, *ON_ALL_NODES, RAPI)
        processes = [self.cluster.process(daemon) for daemon in daemons]
        for process in processes:
            os.kill(process, signal.SIGHUP)
        self.cluster.must("gnt-cluster", "info")
        self.assertEqual([is_gone(process) for process in processes], [False] * len(processes))

    def test_crash(self) -> None:
        """After SIGKILL the pid files and sockets are there still; all starts without a hand."""
        for daemon in ("ganeti-master", "ganeti-noded"):
            self.cluster.end(daemon, signal.SIGKILL)
        self.assertTrue((self.cluster.node.root / "var/run/ganeti/socket/ganeti-query").exists())
        for daemon in ("ganeti-noded", "ganeti-master"):
            self.cluster.must(daemon)
        self.cluster.must("gnt-debug", "delay", "0.01")

    def test_reboot(self) -> None:
        """A reboot takes /var/run/ganeti away; what is needed there is made again."""
        for daemon in ("ganeti-master", "ganeti-noded"):
            self.cluster.end(daemon, signal.SIGKILL)
        shutil.rmtree(self.cluster.node.root / "var/run/ganeti")
        for daemon in ("ganeti-noded", "ganeti-master"):
            self.cluster.must(daemon)
        self.cluster.must("gnt-debug", "delay", "0.01")

    def test_stale_pid(self) -> None:
        """A pid file that names a process of somebody else's is no hindrance."""
        self.cluster.end("ganeti-master", signal.SIGKILL)
        run = self.cluster.node.root / "var/run/ganeti"
        for daemon in ON_MASTER:
            (run / f"{daemon}.pid").write_text(f"{os.getpid()}\n")
        self.cluster.must("ganeti-master")

    def test_down(self) -> None:
        """A command whose daemon is down says which, and what starts it; luxid says so of a WConfD that is apart."""
        self.cluster.end("ganeti-master", signal.SIGTERM)
        done = self.cluster.programs.run(self.cluster.node, "gnt-cluster", "info")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ganeti-luxid", done.stderr)
        self.assertIn("Start it on the master node with 'ganeti-master'", done.stderr)
        self.cluster.must("ganeti-luxid")
        done = self.cluster.programs.run(self.cluster.node, "gnt-debug", "locks")
        self.assertEqual(done.returncode, 1)
        self.assertIn("'ganeti-wconfd'", done.stderr)
        self.assertNotIn("Corrupt", done.stderr)

    def test_apart(self) -> None:
        """luxid and WConfD apart serve jobs, queries and locks; each is restarted or killed in the middle of a job."""
        self.cluster.end("ganeti-master", signal.SIGTERM)
        for daemon in APART:
            self.cluster.must(daemon)
        self.assertIn("node1.dev.example", self.cluster.must("gnt-node", "list"))
        for daemon in APART:
            for number in (signal.SIGTERM, signal.SIGKILL):
                job = self.delay(2)
                self.assertRegex(self.cluster.must("gnt-debug", "locks"), rf"(?m) {job} +-$")
                self.cluster.end(daemon, number)
                self.cluster.must(daemon)
                self.ends_well(job)
        self.cluster.must("gnt-instance", "add", *INSTANCE)
        self.assertIn("web1", self.cluster.must("gnt-instance", "list"))
        self.cluster.must("gnt-instance", "startup", "web1.dev.example")
        self.assertIn("running", self.cluster.must("gnt-instance", "list"))

    def test_apart_refuse_master(self) -> None:
        """Beside the parts ganeti-master does not run, and touches nothing."""
        self.cluster.end("ganeti-master", signal.SIGTERM)
        for daemon in APART:
            self.cluster.must(daemon)
        done = self.cluster.programs.run(self.cluster.node, "ganeti-master")
        self.assertEqual(done.returncode, 1)
        self.assertIn("running already", done.stderr)
        self.cluster.must("gnt-debug", "delay", "0.01")


INSTANCE = (
    *("-n", "node1.dev.example", "-o", "busybox+default", "-t", "diskless", "--no-install"),
    *("--no-name-check", "--no-ip-check", "web1.dev.example"),
)
