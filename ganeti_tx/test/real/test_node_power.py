"""Nodes of a real cluster lose their power and come back: restricted commands, powercycle, out-of-band power, a whole EPO."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.devcluster.processes import daemon_of
from ganeti_tx.devcluster.supervising import start_supervisor
from ganeti_tx.runtime.daemon_names import NODE
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.real.devcluster import cluster_with, commands_are_installed
from ganeti_tx.test.real.programs import until

#: Seconds for the daemons of a node to come back.
BOOT_LIMIT = 180.0
HOME = Path(__file__).parents[3]
#: QEMU needs no guest: without a kernel it waits.
SETTINGS = (
    "--enabled-hypervisors=kvm",
    "--hypervisor-parameters",
    "kvm:kernel_path=,vnc_bind_address=,kvm_flag=disabled,serial_console=false",
    "--enabled-disk-templates=diskless",
)
ADD = "gnt-instance add -t diskless -o busybox+default --no-install --no-name-check --no-ip-check --ignore-ipolicy -n"
#: What power is in a cluster whose nodes are parts of one machine: processes, of which a boot starts the daemons.
POWER = """#!{python}
import signal, sys
from pathlib import Path
sys.path.insert(0, {home!r})
from ganeti_tx.devcluster.layout import load
from ganeti_tx.devcluster.supervising import start
from ganeti_tx.runtime.daemon_names import NODE, ON_ALL_NODES
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.root_processes import processes_of, send
command, name = sys.argv[1:]
node = load(Path({cluster!r})).node(name)
if command in ("power-off", "power-cycle"):
    for path in Paths(node.root).run_dir.glob("ganeti-*.pid"):
        path.unlink()  # nobody starts again what has no power
    while found := list(processes_of(node.root)):
        for process in found:
            send(process, signal.SIGKILL)
if command in ("power-on", "power-cycle"):
    for daemon in (NODE, *ON_ALL_NODES):
        assert start(node, daemon).wait(60) == 0
if command == "power-status":
    print('{{"powered": %s}}' % str(Paths(node.root).pid_file(NODE).exists()).lower())
if command == "health":
    print('[["fan", "OK"], ["psu", "WARNING"]]')
"""


#: By which files are reached, on whatever processor (those with a question mark are not on all); what is open is so already.
FILE_CALLS = (
    "?open,openat,?stat,newfstatat,?lstat,statx,?access,faccessat,?faccessat2,?readlink,readlinkat,?rename,?unlink"
)


#: Seconds until a tracer has let go of what it looks at.
TRACER_LIMIT = 10.0


@contextmanager
def dead_disk(process: int, directory: Path) -> Iterator[None]:
    """Have every such call of a process fail for the files below a directory, as on a disk that does not answer."""
    if shutil.which("strace") is None:
        raise SkipTest("strace is not installed")
    files = [word for path in directory.rglob("*") if path.is_file() for word in ("-P", str(path))]
    argv = ["strace", "-f", "-p", str(process), "-o", "/dev/null", *files, "-e", f"inject={FILE_CALLS}:error=EIO"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as tracer:
        assert tracer.stderr is not None
        try:
            said = tracer.stderr.readline()
            while "Requested path" in said:  # it tells of links
                said = tracer.stderr.readline()
            if "attached" not in said:
                raise SkipTest(f"strace may not look at processes here: {said.strip()}")
            yield
        finally:
            tracer.send_signal(signal.SIGINT)
            try:
                tracer.wait(TRACER_LIMIT)
            except subprocess.TimeoutExpired:  # what it looks at may end in the moment in which it is to let go
                tracer.kill()


class NodePowerTests(SynchronousTestCase):
    """A devcluster of three nodes with QEMU, which each test leaves as it was."""

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        self.cluster = cluster_with(SETTINGS)
        start_supervisor(self.cluster.layout)  # as systemd on real nodes, it starts what has died
        self.ok = self.cluster.ok

    def lay_out(self, path: Path, text: str) -> Path:
        """A program of the administrator's."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def processes(self, *numbers: int) -> dict[int, set[int]]:
        """Those of some nodes."""
        return {number: set(processes_of(self.cluster.layout.nodes[number - 1].root)) for number in numbers}

    def node_daemons(self, processes: Iterable[int]) -> list[int]:
        """Those among them."""
        return [process for process in processes if daemon_of(process) == NODE]

    def wait_for(self, number: int) -> None:
        """Until a node does what the master wants."""
        deadline = time.monotonic() + BOOT_LIMIT
        while self.cluster.run(["gnt-debug", "delay", "--no-master", "-n", f"node{number}", "0"])[0] != 0:
            self.assertLess(time.monotonic(), deadline, f"node{number} did not come back")

    def add(self, node: str, name: str) -> None:
        """An instance that runs."""
        self.ok(f"{ADD} {node} {name}")
        self.addCleanup(self.ok, f"gnt-instance remove -f --shutdown-timeout=0 {name}")
        self.ok(f"gnt-instance startup {name}")

    def test_restricted_command(self) -> None:
        """Run on the nodes that have it, which are told apart."""
        for node in self.cluster.layout.nodes[:2]:
            directory = Paths(node.root).restricted_commands_dir
            self.lay_out(directory / "where", f"#!/bin/sh\necho {node.name} $#; pwd; env | cut -d= -f1 | sort\n")
        _status, out, _err = self.cluster.run(
            ["gnt-node", "restricted-command", "-M", "where", "node1", "node2", "node3"]
        )
        self.assertIn("node1.dev.example: node1.dev.example 0\nnode1.dev.example: /\n", out)
        self.assertIn("node2.dev.example: node2.dev.example 0\n", out)
        self.assertIn("Command 'where' on node 'node3.dev.example' failed: Executing command 'where' failed", out)
        self.assertNotIn("GANETI", out)

    def test_powercycle(self) -> None:
        """All processes of the node end, its guest's, too, no others; its daemons come back, the guest when it is wanted."""
        self.add("node2", "web1")
        self.assertEqual(self.cluster.machines("web1"), ["node2"])
        before = self.processes(1, 2, 3)
        self.assertIn("Reboot scheduled in 5 seconds\n", self.ok("gnt-node powercycle --yes node2"))
        until(lambda: not before[2] & self.processes(2)[2], "the end of all that ran on the node")
        self.wait_for(2)
        after = self.processes(1, 3)
        for number in (1, 3):
            kept = self.node_daemons(before[number])
            self.assertEqual(self.node_daemons(after[number]), kept, f"node{number}")
        self.assertEqual(self.cluster.machines("web1"), [])
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.cluster.machines("web1"), ["node2"])

    def test_dead_disk(self) -> None:
        """A node daemon that reaches no file any more answers, resets its node when it is told to, and does nothing else."""
        self.ok("gnt-cluster add-tags seen")
        self.addCleanup(self.ok, "gnt-cluster remove-tags seen")
        before = self.processes(2)[2]
        (daemon,) = self.node_daemons(before)
        with dead_disk(daemon, self.cluster.layout.nodes[1].root):
            status, out, _err = self.cluster.run(["gnt-node", "restricted-command", "where", "node2"])
            self.assertEqual(status, 1)
            self.assertIn("ssconf_master_node: Input/output error", out)
            self.assertIn("Reboot scheduled in 5 seconds\n", self.ok("gnt-node powercycle --yes node2"))
            until(lambda: not before & self.processes(2)[2], "the end of all that ran on the node")
        self.wait_for(2)

    def test_powercycle_of_master(self) -> None:
        """Only by force; the job is done, and the cluster goes on when the master is back."""
        status, _out, err = self.cluster.run(["gnt-node", "powercycle", "--yes", "node1"])
        self.assertEqual(status, 1)
        self.assertIn("is the master", err)
        before = self.processes(1)[1]
        self.ok("gnt-node powercycle --yes --force node1")
        until(lambda: not before & self.processes(1)[1], "the end of all that ran on the node")
        self.wait_for(1)

    def test_epo(self) -> None:
        """The whole cluster goes and comes back, as a scripted out-of-band program knows it."""
        root = Path(self.cluster.layout.root)
        program = self.lay_out(root / "power", POWER.format(python=sys.executable, home=str(HOME), cluster=str(root)))
        self.ok(f"gnt-cluster modify --node-parameters oob_program={program}")
        self.addCleanup(self.ok, "gnt-cluster modify --node-parameters oob_program=")
        for number in (1, 2, 3):
            self.add(f"node{number}", f"web{number}")
        on = [["Node", "Status"], *([f"node{number}.dev.example", "powered"] for number in (1, 2, 3))]
        self.assertEqual([line.split() for line in self.ok("gnt-node power status").splitlines()], on)
        self.assertIn("node2.dev.example fan=OK\n                  psu=WARNING\n", self.ok("gnt-node health node2"))
        out = self.ok("gnt-cluster epo --all --force --shutdown-timeout=1")
        self.assertIn("The master node1.dev.example is prepared", out)
        self.assertEqual(self.processes(2, 3), {2: set(), 3: set()})
        self.assertEqual([self.cluster.machines(f"web{number}") for number in (1, 2, 3)], [[], [], []])
        self.assertEqual(self.ok("gnt-node list --no-headers -o role,powered").split(), ["M", "Y", "O", "N", "O", "N"])
        states = self.ok("gnt-instance list --no-headers -o admin_state")
        self.assertEqual(states.split(), ["up", "up", "up"])
        self.ok("gnt-cluster epo --on --all --force --power-delay=0.5")
        self.assertEqual(
            [self.cluster.machines(f"web{number}") for number in (1, 2, 3)], [["node1"], ["node2"], ["node3"]]
        )
        self.assertEqual(self.ok("gnt-node list --no-headers -o role,powered").split(), ["M", "Y", "C", "Y", "C", "Y"])
        self.ok("gnt-node power --force cycle node3")
        self.wait_for(3)
        self.assertEqual(self.cluster.machines("web3"), [])
