"""An instance's whole life on a real volume of Gluster, by the commands of a cluster whose nodes mount it each for itself."""

import os
import shutil
import subprocess
from pathlib import Path

from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.bootstrap.start import stop
from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.node.storage.gluster.volume import GLUSTER
from ganeti_tx.runtime.daemon_names import NODE
from ganeti_tx.runtime.daemon_programs import own_program
from ganeti_tx.runtime.mount_table import mounted_at
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed
from ganeti_tx.test.real.gluster import COPIED, end, gluster_servers, processes_with
from ganeti_tx.test.real.guest import ROOT
from ganeti_tx.test.real.test_kvm_migration import free_port

NAME, COPY = "web1.dev.example", "web2.dev.example"
NEW = "-o busybox+default -B memory=128 --no-name-check --no-ip-check --ignore-ipolicy"
START_LIMIT = 60.0  # seconds
MIB = 1 << 20


class GlusterClusterTests(TestCase):
    """Three nodes with QEMU, each of which sees mounts of its own."""

    timeout = 900

    def setUp(self) -> None:
        if not commands_are_installed() or shutil.which("qemu-system-x86_64") is None:
            raise SkipTest("the commands are not installed beside this Python, or there is no qemu-system-x86_64")
        self.servers = gluster_servers()
        guest = ROOT / ".cache" / "guest"
        made = subprocess.run([ROOT / "etc/os/busybox/make-guest", guest], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise SkipTest(f"no guest can be made: {made.stderr.strip()}")
        parameters = f"kvm:kernel_path={guest / 'vmlinux'},initrd_path={guest / 'initrd.img'},kvm_flag=disabled"
        parameters += ",kernel_args=console=ttyS0 quiet,root_path=/dev/vda,serial_console=true,vnc_bind_address="
        parameters += f",migration_port={free_port()},migration_bandwidth=500"
        words = "gluster,file,sharedfile"
        gluster = f"gluster:host={self.servers.addresses[0]},volume={COPIED}"
        options = ["--enabled-hypervisors=kvm", "-H", parameters, f"--enabled-disk-templates={words}", "-D", gluster]
        self.cluster = DevClusterUnderTest(options)
        self.addCleanup(self.close)
        self.nodes = self.cluster.layout.nodes
        for node in self.nodes:
            stop(Paths(node.root), NODE)
            self.start_alone(node)
        self.ok = self.cluster.ok
        self.directory = self.cluster.layout.root / "shared/gluster"

    def start_alone(self, node: DevNode) -> None:
        """Start a node's daemon, whose mounts nobody else sees."""
        done = subprocess.run(
            ["unshare", "--mount", str(own_program(NODE))], env=node.environment(os.environ),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=START_LIMIT, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise SkipTest(f"{node.name} cannot have mounts of its own: {done.stderr.strip()}")

    def close(self) -> None:
        """Nothing is left, though the test may have failed half-way."""
        self.cluster.close()
        for pid in list(processes_with(self.cluster.layout.root)):
            end(pid)

    def mounted(self) -> list[str]:
        """The nodes on which the volume is mounted."""
        found = []
        for node in self.nodes:
            pid = int(Paths(node.root).pid_file(NODE).read_text())
            seen = mounted_at(Path(f"/proc/{pid}/mountinfo").read_text(), self.directory)
            if seen is not None:
                self.assertEqual((seen.kind, seen.source), (GLUSTER, f"{self.servers.addresses[0]}:/{COPIED}"))
                found.append(node.name.partition(".")[0])
        return found

    def files(self, server: int = 0) -> list[int]:
        """The sizes in MiB of the files that a server has."""
        return sorted(path.stat().st_size // MIB for path in (self.servers.brick(server) / "ganeti").iterdir())

    def place(self, name: str = NAME) -> list[str]:
        """Where it is, how it is, and on which nodes it has a QEMU."""
        told = self.ok(f"gnt-instance list --no-headers -o pnode,status,disk_template {name}").split()
        return [told[0].partition(".")[0], *told[1:], *self.cluster.machines(name)]

    def test_whole_life(self) -> None:
        """Made, grown, moved, bereft of a brick, converted, exported, imported, removed; nodes mount what they need."""
        self.assertEqual(self.mounted(), [])
        self.ok(
            f"gnt-instance add -t gluster --disk 0:size=64M --disk 1:size=16M,access=userspace {NEW} -n node2 {NAME}"
        )
        self.assertEqual((self.place(), self.mounted()), (["node2", "running", "gluster", "node2"], ["node2"]))
        self.assertEqual([self.files(server) for server in (0, 1)], [[16, 64]] * 2)
        self.ok(f"gnt-instance grow-disk --ignore-ipolicy {NAME} 0 16M")
        self.assertEqual(self.files(), [16, 80])
        self.ok(f"gnt-instance migrate -f -n node3 {NAME}")
        self.assertEqual((self.place(), self.mounted()), (["node3", "running", "gluster", "node3"], ["node3"]))
        self.bereft()
        self.ok(f"gnt-instance failover -f --shutdown-timeout=0 -n node1 {NAME}")
        self.assertEqual((self.place(), self.mounted()), (["node1", "running", "gluster", "node1"], ["node1"]))
        self.verified()
        self.ok(f"gnt-instance shutdown --timeout=0 {NAME}")
        self.assertEqual(self.mounted(), [])
        self.assertIn(f"{self.directory}/ganeti/", self.ok(f"gnt-instance activate-disks {NAME}"))
        self.assertEqual(self.mounted(), ["node1"])
        self.ok(f"gnt-instance deactivate-disks {NAME}")
        for word, sizes in (("file", []), ("gluster", [20, 80])):
            self.ok(f"gnt-instance modify --ignore-ipolicy -t {word} {NAME}")
            self.assertEqual((self.place()[2], self.files(), self.mounted()), (word, sizes, []))
        self.exported()
        self.assertEqual(([self.files(server) for server in (0, 1)], self.mounted()), ([[], []], []))

    def bereft(self) -> None:
        """A brick dies, and the instance runs on; its disk even grows."""
        self.servers.kill_brick(1)
        self.ok(f"gnt-instance grow-disk --ignore-ipolicy {NAME} 1 4M")
        self.assertEqual(self.files(), [20, 80])
        self.assertEqual(self.place(), ["node3", "running", "gluster", "node3"])
        self.servers.start_bricks()

    def verified(self) -> None:
        """All is well, each node that has the volume knows its room, and one that may not have it is told."""
        self.ok("gnt-cluster verify")
        self.ok("gnt-cluster verify-disks")
        told = self.ok("gnt-node list-storage -t gluster --no-headers --separator=: --units=m -o node,size node1")
        seen = os.statvfs(self.servers.directory)
        self.assertEqual(told.strip(), f"{self.nodes[0].name}:{seen.f_blocks * seen.f_frsize // MIB}")
        allowed = Paths(self.nodes[1].root).file_storage_paths_file
        before = allowed.read_text()
        allowed.write_text("/srv/elsewhere\n")
        status, out, _ = self.cluster.run(["gnt-cluster", "verify", "--error-codes"])
        self.assertEqual(status, 1)
        self.assertIn(f"ERROR:ENODEGLUSTERSTORAGEPATHUNUSABLE:node:{self.nodes[1].name}:", out)
        allowed.write_text(before)

    def exported(self) -> None:
        """What was exported becomes another instance on the volume, and both go."""
        self.ok(f"gnt-backup export -n node2 {NAME}")
        self.ok(f"gnt-instance remove -f --shutdown-timeout=0 {NAME}")
        source = f"--src-node node2 --src-dir {NAME}"
        self.ok(f"gnt-backup import -t gluster {source} --no-name-check --no-ip-check --ignore-ipolicy -n node2 {COPY}")
        self.assertEqual(self.files(), [20, 80])
        self.ok(f"gnt-instance startup {COPY}")
        self.assertEqual((self.place(COPY), self.mounted()), (["node2", "running", "gluster", "node2"], ["node2"]))
        self.ok(f"gnt-instance remove -f --shutdown-timeout=0 {COPY}")
        self.ok(f"gnt-backup remove {NAME}")
