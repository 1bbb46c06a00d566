"""Images of a real Ceph, without devices of the kernel: the driver's contract, and the whole life of an instance under QEMU."""

import socket
import time
from pathlib import Path
from shutil import copytree

from twisted.internet.task import Clock
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.devcluster import quickstart
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.node.storage.rbd.driver import KERNEL_BUS, RbdImages
from ganeti_tx.node.storage.rbd.report import parse_info
from ganeti_tx.node.storage.rbd.tools import RbdTools
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.storage import OneDeviceContract
from ganeti_tx.test.contracts.storage_abilities import OwnerMarkContract, SnapshotContract, StreamContract
from ganeti_tx.test.fakes.blocking_process import BlockingRunner
from ganeti_tx.test.real.ceph import ceph, need_ceph
from ganeti_tx.test.real.command_line import command_line
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed
from ganeti_tx.test.real.test_kvm_migration import free_port
from ganeti_tx.test.real.test_operations import HYPERVISOR, LIMITS, OS, OS_DEFINITION, wait_for_shell

NAME = "web1.dev.example"
#: Of an operating system: what can do without devices is told where QEMU finds the data.
SCRIPTS = {
    "export": """#!/bin/sh
image=${{EXPORT_DISK_URI#rbd:}}
exec rbd --conf {conf} export --no-progress "${{image%%:*}}" -
""",
    "import": """#!/bin/sh
set -e
cat > "/tmp/$INSTANCE_NAME.image"
qemu-img convert -n -f raw -O raw "/tmp/$INSTANCE_NAME.image" "$IMPORT_DISK_URI"
rm "/tmp/$INSTANCE_NAME.image"
""",
}
#: Seconds within which a shell answers.
ANSWER = 120.0


class RealImagesTests(OneDeviceContract, OwnerMarkContract, SnapshotContract, StreamContract):
    """The rules of every disk."""

    template = "rbd"
    has_path = False

    def storage(self) -> RbdImages:
        """See `OneDeviceContract`."""
        need_ceph()
        if KERNEL_BUS.exists():
            raise SkipTest("this kernel would have devices for the images")
        self.ceph = ceph()
        self.addCleanup(self.remove_all)
        tools = RbdTools(BlockingRunner(), Clock(), str(self.ceph.conf))
        return RbdImages("rbd", tools, RealFiles(InlineThreads()), InlineThreads())

    def remove_all(self) -> None:
        """No image stays; snapshots of others go first."""
        for image in sorted(self.ceph.images(), key=len, reverse=True):
            self.ceph.run("rbd", "rm", "--no-progress", f"rbd/{image}")

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`."""
        params = {"access": "userspace", "pool": "rbd"}
        uuid = f"d{number}"
        return DiskSpec(uuid=uuid, dev_type="rbd", size=size, logical_id=self.logical_id(number), params=params)

    def logical_id(self, number: int) -> list[object]:
        """See `OneDeviceContract`."""
        return ["rbd", f"u.rbd.disk{number}"]

    def spec(self, disk: DiskSpec) -> str:
        """What Ceph's programs call it."""
        return f"rbd/{(disk.logical_id or [''])[-1]}"

    def mark(self, disk: DiskSpec) -> str:
        """See `OwnerMarkContract`."""
        return self.ceph.run("rbd", "image-meta", "get", self.spec(disk), "ganeti").strip()

    def content(self, disk: DiskSpec) -> str:
        """See `SnapshotContract`."""
        return self.ceph.run("rbd", "export", "--no-progress", self.spec(disk), "-").rstrip("\0")

    def fill(self, disk: DiskSpec, content: str) -> None:
        """See `SnapshotContract`."""
        self.ceph.write(self.spec(disk), content)


class LifeTests(SynchronousTestCase):
    """Three nodes whose QEMU opens the images itself."""

    timeout = 900

    def setUp(self) -> None:
        need_ceph()
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        if not OS_DEFINITION.exists() or not quickstart.have_qemu() or not quickstart.make_guest():
            raise SkipTest("QEMU, a guest with Linux for it, or the package ganeti-os-noop cannot be had")
        self.ceph = ceph()
        options = ("--enabled-hypervisors=kvm", "--enabled-disk-templates=file,rbd", "-D", "rbd:access=userspace")
        self.cluster = DevClusterUnderTest((*options, "-H", HYPERVISOR.format(port=free_port())))
        self.addCleanup(self.cluster.close)
        for node in self.cluster.layout.nodes:
            self.add_os(node.root / "srv/ganeti/os" / OS)
        self.cluster.ok(f"gnt-cluster modify --ipolicy-disk-templates file,rbd --ipolicy-bounds-specs {LIMITS}")

    def add_os(self, directory: Path) -> None:
        """One whose scripts need no device."""
        copytree(OS_DEFINITION, directory)
        for name, text in SCRIPTS.items():
            (directory / name).write_text(text.format(conf=self.ceph.conf))

    def configure(self) -> None:
        """The nodes know the cluster."""
        for node in self.cluster.layout.nodes:
            path = Paths(node.root).ceph_conf
            path.parent.mkdir(parents=True)
            path.symlink_to(self.ceph.conf)

    def shell(self, node: int, line: str, wanted: bytes) -> bytes:
        """What a guest says to a line that is typed on its console, until it has said that."""
        root = self.cluster.layout.nodes[node].root
        with socket.socket(socket.AF_UNIX) as console:
            console.connect(str(instance_layout(Paths(root), NAME).serial))
            wait_for_shell(console)
            console.settimeout(1)
            console.sendall(line.encode() + b"\n")
            said, end = b"", time.monotonic() + ANSWER
            while wanted not in said:
                self.assertLess(time.monotonic(), end, said)
                try:
                    said += console.recv(4096)
                except TimeoutError:
                    continue
        return said

    def drives(self) -> list[str]:
        """What QEMU was told of its drives."""
        (words,) = [line for line in map(command_line, processes_of(self.cluster.layout.root)) if b"-pidfile" in line]
        return [words[number + 1].decode() for number, word in enumerate(words) if word == b"-drive"]

    def size(self, image: str) -> int:
        """MiB of an image."""
        return parse_info(self.ceph.run("rbd", "info", f"rbd/{image}", "--format", "json").encode()).mib

    def test_life(self) -> None:
        """It is made, runs, grows, gets another disk, migrates, is exported and imported, becomes files and back, and goes."""
        said = self.cluster.run(["gnt-cluster", "verify", "--error-codes"])
        self.assertIn("ENODESETUP", said[1] + said[2])
        self.configure()
        self.cluster.ok("gnt-cluster verify")
        first, second, third = (node.name for node in self.cluster.layout.nodes)
        files = f"kernel_path={quickstart.kernel()},initrd_path={quickstart.GUEST_DIRECTORY / 'initrd.img'}"
        add = f"gnt-instance add -o {OS} -H kvm:{files} --no-name-check --no-ip-check"
        self.cluster.ok(f"{add} -t rbd -s 16m -B memory=128 -n {second} {NAME}")
        (image,) = self.ceph.images()
        self.assertRegex(image, r"^[0-9a-f-]{36}\.rbd\.disk0$")
        self.assertRegex(self.drives()[0], rf"^file=rbd:rbd/{image}:conf=.*format=raw")
        self.shell(1, "echo written-by-guest | dd of=/dev/vda conv=fsync; echo o''k", b"ok\r")
        self.assertIn("written-by-guest", self.ceph.run("rbd", "export", "--no-progress", f"rbd/{image}", "-"))

        self.cluster.ok(f"gnt-instance grow-disk {NAME} 0 16m")
        self.assertEqual(self.size(image), 32)
        self.shell(1, "cat /sys/block/vda/size; echo o''k", b"65536\r")
        self.cluster.ok(f"gnt-instance modify --hotplug --disk add:size=8m {NAME}")
        self.shell(1, "sleep 1; cat /sys/block/vdb/size; echo o''k", b"16384\r")
        self.cluster.ok(f"gnt-instance modify --hotplug --disk 1:remove {NAME}")
        self.assertEqual(self.ceph.images(), [image])

        self.cluster.ok(f"gnt-instance migrate -f -n {third} {NAME}")
        self.shell(2, "head -c 16 /dev/vda; echo; echo o''k", b"written-by-guest")
        self.cluster.ok(f"gnt-backup export -n {first} {NAME}")
        self.assertEqual(self.ceph.images(), [image])
        self.cluster.ok(f"gnt-instance failover -f --shutdown-timeout 0 -n {first} {NAME}")
        self.assertEqual(self.cluster.machines(NAME), [first.split(".")[0]])
        self.cluster.ok("gnt-cluster verify")
        self.cluster.ok("gnt-cluster verify-disks")

        self.cluster.ok(f"gnt-instance shutdown --timeout 0 {NAME}")
        self.cluster.ok(f"gnt-instance modify -t file {NAME}")
        self.assertEqual(self.ceph.images(), [])
        self.cluster.ok(f"gnt-instance modify -t rbd {NAME}")
        (again,) = self.ceph.images()
        self.assertIn("written-by-guest", self.ceph.run("rbd", "export", "--no-progress", f"rbd/{again}", "-"))
        self.cluster.ok(f"gnt-instance activate-disks {NAME}")
        self.cluster.ok(f"gnt-instance deactivate-disks {NAME}")
        self.cluster.ok(f"gnt-instance remove -f {NAME}")
        self.assertEqual(self.ceph.images(), [])

        imported = "web2.dev.example"
        place = f"--src-node {first} --src-dir {NAME} -t rbd -n {second}"
        self.cluster.ok(f"gnt-backup import {place} --no-name-check --no-ip-check {imported}")
        (third_image,) = self.ceph.images()
        self.assertIn("written-by-guest", self.ceph.run("rbd", "export", "--no-progress", f"rbd/{third_image}", "-"))
        self.cluster.ok(f"gnt-instance remove -f --shutdown-timeout 0 {imported}")
        self.assertEqual(self.ceph.images(), [])
