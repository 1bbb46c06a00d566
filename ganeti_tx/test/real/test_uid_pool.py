"""Instances of a real cluster, each under a user id of its own, which outlive their node daemon."""

import os
import signal
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.devcluster.supervising import start
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.runtime.daemon_names import NODE
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.real.command_line import command_line
from ganeti_tx.test.real.devcluster import cluster_with, commands_are_installed
from ganeti_tx.test.real.guest import BOOT_LIMIT, ROOT
from ganeti_tx.test.real.programs import is_gone, until
from ganeti_tx.test.real.test_kvm_migration import free_port

#: QEMU needs no guest: without a kernel it waits in its firmware.
SETTINGS = (
    "--enabled-hypervisors=kvm",
    "--hypervisor-parameters",
    "kvm:kernel_path=,vnc_bind_address=,kvm_flag=disabled,security_model=pool",
    "--enabled-disk-templates=sharedfile,diskless",
    "--uid-pool=61500-61501",
)
GUEST = ROOT / ".cache/guest"
ADD = "gnt-instance add -o busybox+default --no-install --no-name-check --no-ip-check --ignore-ipolicy -B memory=128"


class UidPoolTests(SynchronousTestCase):
    """A devcluster with two ids; there is no KVM, so that nothing else of this machine has one of them."""

    timeout = 600

    def setUp(self) -> None:
        if os.geteuid() != 0:
            raise SkipTest("only root may become another user")
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        self.cluster = cluster_with(SETTINGS)
        self.ok = self.cluster.ok

    def add(self, name: str, node: str) -> None:
        """An instance that does not run yet, with a disk of which only root may read."""
        self.ok(f"{ADD} -t sharedfile -s 1M -n {node} {name}")
        self.addCleanup(self.cluster.run, f"gnt-instance remove -f --shutdown-timeout=0 {name}".split())

    def processes(self, name: str) -> Iterator[int]:
        """The QEMUs of an instance."""
        for pid in processes_of(self.cluster.layout.root):
            words = command_line(pid)
            if b"-pidfile" in words and os.fsdecode(words[words.index(b"-pidfile") + 1]).endswith(f"/{name}"):
                yield pid

    def user(self, name: str) -> int:
        """Whose an instance's only QEMU is, in all of its four ids."""
        (pid,) = self.processes(name)
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        (ids,) = {part for line in lines if line.startswith(("Uid:", "Gid:")) for part in line.split()[1:]}
        return int(ids)

    def marked(self, number: int) -> list[str]:
        """The ids that a node remembers to have lent."""
        directory = Paths(self.cluster.layout.nodes[number - 1].root).uid_pool_dir
        return sorted(os.listdir(directory)) if directory.exists() else []

    def test_own_ids(self) -> None:
        """Each has one; a third finds none until there are more; a stop frees it, a migration takes another there."""
        self.assertIn("uid pool: 61500-61501", self.ok("gnt-cluster info"))
        self.ok(f"gnt-cluster modify -H kvm:migration_port={free_port()}")
        for name in ("web1", "web2", "web3"):
            self.add(name, "node2")
        self.ok("gnt-instance startup --force-multiple web1 web2")  # at the same time
        first, second = self.user("web1"), self.user("web2")
        self.assertEqual({first, second}, {61500, 61501})
        self.assertEqual(self.marked(2), ["61500", "61501"])
        status, _out, err = self.cluster.run(["gnt-instance", "startup", "web3"])
        self.assertEqual(status, 1)
        self.assertIn("all 2 user ids of the cluster's pool are in use here", err)
        self.assertEqual(self.marked(2), ["61500", "61501"])
        self.ok("gnt-cluster modify --remove-uids=61500 --add-uids=61502-61503")
        self.assertIn("uid pool: 61501, 61502-61503", self.ok("gnt-cluster info"))
        self.ok("gnt-instance startup web3")
        self.assertIn(self.user("web3"), (61502, 61503))
        self.assertEqual((self.user("web1"), self.user("web2")), (first, second))
        self.ok("gnt-instance migrate -f -n node3 web3")
        self.assertIn(self.user("web3"), (61502, 61503))
        self.assertEqual((len(self.marked(2)), len(self.marked(3))), (2, 1))
        self.ok("gnt-instance shutdown --timeout=0 web1")
        self.assertEqual(self.marked(2), [str(second)])
        self.ok("gnt-cluster modify --uid-pool=61500-61501")

    def test_restart(self) -> None:
        """A node daemon that ends or is killed takes nothing from a guest; the next one knows it, and what id it has."""
        if not (GUEST / "vmlinux").exists():
            raise SkipTest("there is no guest kernel; bin/quickstart gets one")
        kernel = f"kernel_path={GUEST}/vmlinux,initrd_path={GUEST}/initrd.img,kernel_args=quiet"
        node = self.cluster.layout.nodes[2]
        self.ok(f"{ADD} -t diskless -H kvm:{kernel} -n node3 web4")
        self.addCleanup(self.cluster.run, ["gnt-instance", "remove", "-f", "--shutdown-timeout=0", "web4"])
        self.ok("gnt-instance startup web4")
        (machine,), user = self.processes("web4"), self.user("web4")
        with socket.socket(socket.AF_UNIX) as console:
            console.settimeout(BOOT_LIMIT)
            console.connect(str(instance_layout(Paths(node.root), "web4").serial))
            said(console, b"/ # ")
            console.sendall(b"KEPT=1\n")
            for count, number in enumerate((signal.SIGTERM, signal.SIGKILL), 2):
                daemon = int(Paths(node.root).pid_file(NODE).read_text())
                os.kill(daemon, number)
                until(partial(is_gone, daemon), "the end of the node daemon")
                console.sendall(b"KEPT=$((KEPT+1)); echo it is $KEPT\n")
                said(console, b"it is %d\r" % count)
                self.assertEqual(start(node, NODE).wait(60), 0)
                self.assertEqual(
                    self.ok("gnt-instance list --no-headers -o status,oper_vcpus web4").split(), ["running", "1"]
                )
                self.assertEqual((list(self.processes("web4")), self.marked(3)), ([machine], [str(user)]))
        self.ok("gnt-instance shutdown --timeout=0 web4")
        self.assertTrue(is_gone(machine))
        self.assertEqual(self.marked(3), [])


def said(console: socket.socket, text: bytes) -> None:
    """Wait until a guest says it on its console."""
    heard = b""
    while text not in heard:
        more = console.recv(4096)
        if not more:
            raise AssertionError(f"the console ended; it said {heard!r}")
        heard += more
