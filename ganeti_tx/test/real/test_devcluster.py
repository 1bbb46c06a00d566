"""A cluster of real processes on this machine: the scenarios of every cluster, real instances, and faulty or hostile clients."""

import os
import shutil
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.bootstrap.start import running
from ganeti_tx.devcluster.quickstart import boot_lines
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.contracts.cluster import ClusterContract, Scene
from ganeti_tx.test.real.command_line import command_line
from ganeti_tx.test.real.devcluster import cluster_with, commands_are_installed

ROOT = Path(__file__).resolve().parents[3]
OS = "busybox+default"
#: Seconds for a daemon to be back.
BACK = 20.0


class DevclusterCase(TestCase):
    """Runs against a devcluster; classes with the same options share one, which ends with this process."""

    options: Sequence[str] = ("--enabled-hypervisors=fake",)
    timeout = 600

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        self.cluster = cluster_with(tuple(self.options))


class RealClusterContractTests(ClusterContract, DevclusterCase):
    """What every cluster does."""

    def scene(self) -> Scene:
        """The devcluster."""
        return Scene(self.cluster.run, [node.name for node in self.cluster.layout.nodes], OS)


class ClumsyTests(DevclusterCase):
    """Mistakes get one clear line; who is not authenticated gets nothing and harms nobody."""

    def fails(self, line: str, reason: str) -> None:
        """The command fails, says why, and shows no traceback."""
        status, out, err = self.cluster.run(line.split())
        self.assertNotEqual(status, 0, out)
        self.assertIn(reason, err)
        self.assertNotIn("Traceback", err)

    def add(self, words: str) -> str:
        """A command that would add an instance."""
        return f"gnt-instance add -o {OS} --no-name-check --no-ip-check {words}"

    def test_unknown_option(self) -> None:
        """An option that is not there is named."""
        self.fails("gnt-instance list --no-such-option", "--no-such-option")

    def test_bad_size(self) -> None:
        """A size that is none is named with the units there are."""
        self.fails(self.add("-t file -s 12Q -n node1 x.dev.example"), "12Q")

    def test_disk_outside(self) -> None:
        """A disk outside the allowed directories is refused."""
        line = self.add(
            "-t file -s 1G --file-storage-dir=../../../../etc -n node1 --no-install --no-start x.dev.example"
        )
        self.fails(line, "etc")
        self.assertNotIn("x.dev.example", self.cluster.ok("gnt-instance list --no-headers -o name"))

    def test_no_such_os(self) -> None:
        """An OS that no node has is named."""
        self.fails(
            "gnt-instance add -o nope -t file -s 1G -n node1 --no-name-check --no-ip-check x.dev.example", "nope"
        )

    def test_name_twice(self) -> None:
        """A name that is taken is refused."""
        self.cluster.ok(self.add("-t diskless --no-install -n node1 twice.dev.example"))
        self.fails(self.add("-t diskless --no-install -n node2 twice.dev.example"), "twice.dev.example")
        self.cluster.ok("gnt-instance remove -f twice.dev.example")

    def test_junk_on_luxi(self) -> None:
        """Junk is refused with a word and a closed connection; the next command works."""
        path = Paths(self.cluster.layout.master.root).query_socket
        for junk in (b"\xff\xfe junk \x03", b"[" * 100_000 + b"\x03", b'{"method": 7}\x03', b"\x03" * 10):
            with socket.socket(socket.AF_UNIX) as peer:
                peer.settimeout(10)
                peer.connect(str(path))
                peer.sendall(junk)
                said = b""
                while data := peer.recv(65536):
                    said += data
                self.assertIn(b'"success":false', said.replace(b" ", b""))
                self.assertNotIn(b"Traceback", said)
        self.cluster.ok("gnt-cluster getmaster")

    def test_node_down(self) -> None:
        """A node that does not answer is named; nothing is left of what was begun, and it can come back."""
        node = self.cluster.layout.nodes[2]
        paths = Paths(node.root)
        process = running(paths, "ganeti-noded")
        assert process is not None
        os.kill(process, signal.SIGKILL)
        self.fails(self.add(f"-t diskless --no-install -n {node.name} down.dev.example"), node.name)
        self.assertNotIn("down.dev.example", self.cluster.ok("gnt-instance list --no-headers -o name"))
        status, _, err = self.cluster.run(["ganeti-devcluster", "--root", str(self.cluster.layout.root), "run"])
        self.assertNotEqual(status, 0, err)
        self.cluster.ok(f"ganeti-devcluster --root {self.cluster.layout.root} run --node {node.name} -- ganeti-noded")
        deadline = time.monotonic() + BACK
        while self.cluster.run(["gnt-debug", "delay", "--no-master", "-n", node.name, "0"])[0] != 0:
            self.assertLess(time.monotonic(), deadline)

    def test_master_down(self) -> None:
        """A command without its daemon says at once which one is missing and how to start it; a start needs no hand."""
        master = self.cluster.layout.master
        process = running(Paths(master.root), "ganeti-master")
        assert process is not None
        os.kill(process, signal.SIGKILL)
        self.fails("gnt-instance list", "ganeti-master")
        self.cluster.ok("ganeti-master")
        deadline = time.monotonic() + BACK
        while self.cluster.run(["gnt-cluster", "getmaster"])[0] != 0 or self.cluster.run(["gnt-job", "list"])[0] != 0:
            self.assertLess(time.monotonic(), deadline)
        self.cluster.ok("gnt-debug delay 0")


class MachineTests(DevclusterCase):
    """An instance under QEMU, by the commands alone."""

    timeout = 900

    def setUp(self) -> None:
        if shutil.which("qemu-system-x86_64") is None:
            raise SkipTest("qemu-system-x86_64 is not installed")
        guest = ROOT / ".cache" / "guest"
        if not (guest / "vmlinux").exists():
            status = os.spawnv(os.P_WAIT, str(ROOT / "etc/os/busybox/make-guest"), ["make-guest", str(guest)])
            if status != 0:
                raise SkipTest("no guest kernel can be made on this machine")
        parameters = f"kvm:kernel_path={guest / 'vmlinux'},initrd_path={guest / 'initrd.img'}"
        parameters += ",kernel_args=console=ttyS0 quiet,root_path=/dev/vda,serial_console=true,vnc_bind_address="
        self.options = ("--enabled-hypervisors=kvm", "-H", parameters)
        super().setUp()

    def status(self) -> str:
        """The instance's status, as the list shows it."""
        return self.cluster.ok("gnt-instance list --no-headers -o status web1").strip()

    def test_life(self) -> None:
        """It boots to its own word on the console, shuts down by the power button, comes again, reboots, and leaves no trace."""
        where = "-n node2 -B memory=128 --no-name-check --no-ip-check"
        self.cluster.ok(f"gnt-instance add -t file --disk 0:size=64M --ignore-ipolicy -o {OS} {where} web1.dev.example")
        self.assertIn("ganeti_tx guest web1.dev.example is up", " ".join(boot_lines(self.cluster.layout)))
        self.assertEqual(self.status(), "running")
        self.cluster.ok("gnt-instance shutdown web1")
        self.assertEqual(self.status(), "ADMIN_down")
        self.cluster.ok("gnt-instance startup web1")
        self.assertIn("is up", " ".join(boot_lines(self.cluster.layout)))
        self.cluster.ok("gnt-instance reboot web1")
        self.assertIn("is up", " ".join(boot_lines(self.cluster.layout)))
        self.cluster.ok("gnt-instance reboot --type=hard web1")
        self.assertEqual(self.status(), "running")
        self.cluster.ok("gnt-instance remove -f web1")
        self.assertEqual(self.cluster.ok("gnt-instance list --no-headers -o name").split(), [])
        node = self.cluster.layout.nodes[1]
        kvm = Paths(node.root)
        left = [*kvm.kvm_pid_dir.iterdir(), *kvm.kvm_control_dir.iterdir(), *kvm.kvm_conf_dir.iterdir()]
        self.assertEqual(left, [])
        self.assertEqual(list((self.cluster.layout.root / "shared").rglob("web1*")), [])
        for process in processes_of(self.cluster.layout.root):
            self.assertNotIn(b"-pidfile", command_line(process))
