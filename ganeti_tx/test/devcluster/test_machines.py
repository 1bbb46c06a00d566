"""What a devcluster's nodes are asked to end on this machine, and what keeps its directory."""

import io
import subprocess
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.devcluster import machines
from ganeti_tx.devcluster.layout import plan
from ganeti_tx.devcluster.machines import end_machines
from ganeti_tx.devcluster.main import main
from ganeti_tx.devcluster.up import prepare
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.node.hypervisor.kept import KEPT
from ganeti_tx.runtime.paths import Paths

MOUNT = "{} 29 0:26 / {} rw,relatime shared:7 - fuse.glusterfs server1:/gv0 rw,user_id=0\n"


class MachinesTests(SynchronousTestCase):
    """A devcluster of three nodes, of which nothing runs."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="gtx", dir="/tmp", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name).resolve() / "c"
        prepare(plan(self.root, 3))
        self.asked: list[tuple[str, str]] = []
        self.patch(subprocess, "run", self.run_program)
        self.nodes = [Paths(self.root / f"node{number}") for number in (1, 2, 3)]

    def run_program(
        self, argv: list[str], *, env: dict[str, str], **options: Any
    ) -> "subprocess.CompletedProcess[str]":
        """Instead of the program that does it."""
        node, what = Path(env["GANETI_ROOTDIR"]).name, argv[-1]
        self.asked.append((node, what))
        said = "/shared/gluster: umount: target is busy" if (node, what) == ("node2", "leave") else ""
        return subprocess.CompletedProcess(argv, 1 if said else 0, said, "")

    def down(self, *options: str) -> int:
        """The status of the command; `said` has its lines."""
        self.said = io.StringIO()
        with redirect_stdout(self.said), redirect_stderr(self.said):
            return main(["--root", str(self.root), "down", *options])

    def test_instances_first(self) -> None:
        """Volumes, which nodes share, are unmounted when the instances of all nodes have ended; what stays is told."""
        place, ending = KEPT[Hypervisor("kvm")]
        for node in (self.nodes[0], self.nodes[2]):
            (directory := node.run_dir / place).mkdir(parents=True)
            (directory / f"web1{ending}").touch()
        for node in self.nodes[:2]:
            node.gluster_mounts_dir.mkdir(parents=True)
            (node.gluster_mounts_dir / "%2Fshared%2Fgluster").touch()
        self.assertEqual(end_machines(self.root), ["node2: /shared/gluster: umount: target is busy"])
        self.assertEqual(self.asked, [("node1", "end"), ("node3", "end"), ("node1", "leave"), ("node2", "leave")])

    def test_mounted(self) -> None:
        """What is mounted in its directory is not removed with it, whoever mounted that."""
        mounted = self.root / "shared/gluster disks"
        mounted.mkdir(parents=True)
        table = MOUNT.format(40, str(mounted).replace(" ", "\\040")) + MOUNT.format(41, f"{self.root}-other/gluster")
        self.patch(machines, "read_table", lambda: table)
        self.assertEqual(self.down(), 1)
        self.assertIn(f"as something is mounted in it: {mounted}; unmount that", self.said.getvalue())
        self.assertTrue(mounted.exists())
        self.assertEqual(self.down("--keep"), 0)
        self.patch(machines, "read_table", lambda: "")
        self.assertEqual(self.down(), 0)
        self.assertFalse(self.root.exists())
