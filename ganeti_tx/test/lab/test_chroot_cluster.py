"""Instances in chroots by the commands of an administrator, on a cluster whose nodes are parts of this machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE
from ganeti_tx.test.real.chroot_node import SCRIPT, why_not
from ganeti_tx.test.real.devcluster import DevClusterUnderTest

SETTINGS = ("--enabled-hypervisors=chroot", "--enabled-disk-templates=file,sharedfile,diskless")
OS = "tiny"
#: Fails or does nothing when a file in the root wants it to.
STOP = "if [ -e /broken ]; then echo it is broken; exit 7; fi; [ ! -e /deaf ] || exit 0; read pid < /pid; kill $pid;;"
CREATE = """#!/bin/sh -e
tree=$(mktemp -d) && trap 'rm -r $tree' EXIT
cp -a SOURCE/. $tree && mke2fs -q -F -t ext2 -d $tree $DISK_0_PATH
"""
ADD = "gnt-instance add -H chroot --no-ip-check --no-name-check --no-nics --ignore-ipolicy -n node1"
SMALL = f"-s 16M -o {OS}+default"
#: Seconds for what is typed at a console.
LIMIT = 120.0


class ChrootClusterTests(SynchronousTestCase):
    """Two nodes."""

    cluster: DevClusterUnderTest
    if not os.environ.get(CAMPAIGN_VARIABLE):
        skip = "'bin/lab campaign' runs this one"
    elif (obstacle := why_not()) is not None:
        skip = obstacle

    def setUp(self) -> None:
        """The cluster, with an operating system that is a small tree."""
        self.cluster = DevClusterUnderTest(SETTINGS, nodes=2)
        self.addCleanup(self.cluster.close)
        self.addCleanup(self.remove_all)
        self.ok = self.cluster.ok
        self.nodes = self.cluster.layout.nodes
        source = self.cluster.directory / "source"
        make_tree(source)
        for node in self.nodes:
            install_os(Path(node.root, "srv/ganeti/os", OS), source)

    def test_file(self) -> None:
        """Installed, started, spoken to at its console, stopped, rebooted in each way, and removed; nothing is left."""
        self.ok(f"{ADD} -t file {SMALL} web1.example.com")
        root = self.root(self.nodes[0], "web1.example.com")
        self.typed("web1.example.com", "echo here > /typed")
        self.assertEqual((root / "typed").read_text(), "here\n")
        self.assertNotIn("WARNING", self.ok("gnt-instance shutdown web1.example.com"))
        self.assertEqual(self.fields("web1.example.com", "status"), "ADMIN_down")
        self.ok("gnt-instance startup web1.example.com")
        for kind in ("soft", "hard", "full"):
            self.ok(f"gnt-instance reboot -t {kind} web1.example.com")
        self.assertEqual(self.fields("web1.example.com", "status"), "running")
        (root / "broken").touch()
        said = self.said("gnt-instance shutdown web1.example.com")
        self.assertIn("node node1.dev.example: instance web1.example.com was ended by signals", said)
        self.assertIn("exited with status 7: it is broken", said)
        self.ok("gnt-instance startup web1.example.com")
        (root / "broken").unlink()
        (root / "deaf").touch()
        said = self.said("gnt-instance remove -f --shutdown-timeout 1 web1.example.com")
        self.assertIn("has ended well, but after 1 s", said)
        self.nothing_left()

    def test_sharedfile(self) -> None:
        """It fails over there and back, with what was written in it."""
        name = "web2.example.com"
        self.ok(f"{ADD} -t sharedfile {SMALL} {name}")
        for number, node in enumerate(("node2", "node1")):
            self.typed(name, f"echo {number} >> /typed")
            self.ok(f"gnt-instance failover -f -n {node} {name}")
            self.assertEqual(self.fields(name, "status,pnode"), f"running {node}.dev.example")
        self.assertEqual((self.root(self.nodes[0], name) / "typed").read_text(), "0\n1\n")
        self.ok(f"gnt-instance remove -f {name}")
        self.nothing_left()

    def test_diskless(self) -> None:
        """It moves only where the administrator has made its directory, which is asked first; a start that fails says why."""
        name = "web3.example.com"
        trees = [Paths(Path(node.root)).chroot_tree_dir / name for node in self.nodes]
        make_tree(trees[0])
        self.ok(f"{ADD} -t diskless -o noop --no-install {name}")
        self.ok(f"gnt-instance startup {name}")
        status, out, err = self.cluster.run(["gnt-instance", "move", "-f", "-n", "node2", name])
        self.assertEqual(status, 1)
        self.assertIn("node node2.dev.example: it has no disk, and there is no directory", out + err)
        self.assertEqual(self.fields(name, "status,pnode"), "running node1.dev.example")
        make_tree(trees[1])
        self.ok(f"gnt-instance move -f -n node2 {name}")
        self.assertEqual(self.fields(name, "status,pnode"), "running node2.dev.example")
        self.ok(f"gnt-instance shutdown {name}")
        (trees[1] / "ganeti-chroot").write_text("#!/bin/sh\necho no such disk: /data\n")
        _status, out, err = self.cluster.run(["gnt-instance", "startup", name])
        self.assertIn("left no process running: no such disk: /data (see ", out + err)
        self.ok(f"gnt-instance remove -f {name}")
        self.nothing_left()

    def remove_all(self) -> None:
        """End what a failed test left: nothing else ends what runs in chroots, or unmounts them."""
        for name in self.ok("gnt-instance list --no-headers -o name").split():
            self.ok(f"gnt-instance remove -f --shutdown-timeout 0 {name}")

    def said(self, line: str) -> str:
        """All that a command says that must succeed."""
        status, out, err = self.cluster.run(line.split())
        self.assertEqual(status, 0, out + err)
        return out + err

    def fields(self, name: str, wanted: str) -> str:
        """Of an instance, as lists show them."""
        return " ".join(self.ok(f"gnt-instance list --no-headers -o {wanted} {name}").split())

    def root(self, node: DevNode, name: str) -> Path:
        """Where it is mounted."""
        return Paths(Path(node.root)).chroot_run_dir / name / "root"

    def typed(self, name: str, line: str) -> None:
        """Type a line at its console."""
        program = str(Path(sys.executable).parent / "gnt-instance")
        environment = self.cluster.layout.master.environment(os.environ)
        subprocess.run(
            [program, "console", name], env=environment, input=f"{line}\n", text=True, check=True, timeout=LIMIT
        )

    def nothing_left(self) -> None:
        """No mount and no directory of an instance."""
        mounted = [
            line for line in Path("/proc/mounts").read_text().splitlines() if str(self.cluster.directory) in line
        ]
        left = [path for node in self.nodes for path in Paths(Path(node.root)).chroot_run_dir.glob("*")]
        self.assertEqual((mounted, left), ([], []))


def make_tree(tree: Path) -> None:
    """A small system."""
    for directory in ("bin", "dev", "proc"):
        (tree / directory).mkdir(parents=True)
    shutil.copy(str(shutil.which("busybox")), tree / "bin/busybox")
    (tree / "bin/sh").symlink_to("busybox")
    os.mknod(tree / "dev/null", 0o666 | 0o020000, os.makedev(1, 3))
    (tree / "ganeti-chroot").write_text(SCRIPT.replace("read pid < /pid; kill $pid;;", STOP))
    (tree / "ganeti-chroot").chmod(0o755)


def install_os(place: Path, source: Path) -> None:
    """An operating system's definition that puts the tree on the disk."""
    place.mkdir(parents=True)
    texts = {"ganeti_api_version": "20\n", "variants.list": "default\n", "parameters.list": ""}
    scripts = {"create": CREATE.replace("SOURCE", str(source)), "verify": "#!/bin/sh\n"}
    scripts |= dict.fromkeys(("import", "export", "rename"), "#!/bin/sh\n")
    for name, text in {**texts, **scripts}.items():
        (place / name).write_text(text)
        (place / name).chmod(0o755 if name in scripts else 0o644)
