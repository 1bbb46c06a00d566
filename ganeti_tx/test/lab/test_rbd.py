"""Images of Ceph with devices of a real kernel: the machine has the module, and Ceph's daemons are the machines' neighbour."""

import atexit
import os
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SkipTest

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.device import MIB, Device
from ganeti_tx.node.storage.rbd.driver import KERNEL_BUS, RbdImages
from ganeti_tx.node.storage.rbd.tools import RbdTools
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.storage import OneDeviceContract
from ganeti_tx.test.contracts.storage_abilities import OwnerMarkContract, SnapshotContract, UserspaceUriContract
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.lab import guest
from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE, Chosen, LabCase, runner_on, the_cluster, the_lab
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.network import OUTSIDE, address
from ganeti_tx.test.lab.packages import send_programs
from ganeti_tx.test.real.ceph import CephUnderTest, need_ceph

#: Where a machine has what Ceph's programs are told.
CONF = "/etc/ceph/ceph.conf"
INSTANCE = "tick2.lab.example"
ENABLE = "--enabled-disk-templates=plain,drbd,file,rbd", "--ipolicy-disk-templates=plain,drbd,file,rbd"
DISABLE = "--enabled-disk-templates=plain,drbd,file", "--ipolicy-disk-templates=plain,drbd,file"
ADD = ["gnt-instance", "add", "-t", "rbd", "--disk", "0:size=64M", "--no-ip-check", "--no-name-check", "--no-nics"]
#: `rbd map` waits for it.
UDEV = "pgrep -x systemd-udevd || /usr/lib/systemd/systemd-udevd --daemon"
LIMIT = 400.0
_up: list[CephUnderTest] = []


def ceph() -> CephUnderTest:
    """The one of this process, in the lab's network."""
    if not _up:
        _up.append(CephUnderTest(address(OUTSIDE), the_lab().network.inside))
        atexit.register(_up[0].close)
        for machine in the_lab().machines[:2]:
            furnish(machine, _up[0])
    return _up[0]


def furnish(machine: Machine, cluster: CephUnderTest) -> None:
    """Have the program and its settings there, and the module."""
    send_programs(machine, "/usr/bin/rbd")
    machine.run(f"mkdir -p /etc/ceph && cat > {CONF}", text=cluster.conf.read_text())
    machine.run(f"modprobe rbd && ({UDEV})", limit=LIMIT)


class KernelImagesTests(Chosen, OneDeviceContract, OwnerMarkContract, SnapshotContract, UserspaceUriContract):
    """The contracts of disks."""

    always = frozenset()
    template = "rbd"

    def storage(self) -> RbdImages:
        """See `OneDeviceContract`."""
        need_ceph()
        self.ceph, self.machine = ceph(), the_lab().machine(1)
        self.addCleanup(self.remove_all)
        files = MemoryFiles()
        files.mkdir(KERNEL_BUS)
        return RbdImages("rbd", RbdTools(runner_on(1), Clock(), CONF), files, InlineThreads(), self.look)

    trees = OneDeviceContract.trees

    def look(self, path: str) -> Device | None:
        """What the machine has there."""
        ended = self.machine.ended(f"blockdev --getsize64 {path} && stat -c '%Hr %Lr' {path}")
        if ended.returncode != 0:
            return None
        size, major, minor = map(int, ended.stdout.split())
        return Device(size // MIB, (major, minor))

    def remove_all(self) -> None:
        """No device and no image stays; snapshots of others go first."""
        self.machine.run(f"for each in /dev/rbd[0-9]*; do [ ! -b $each ] || rbd --conf {CONF} unmap $each; done")
        for image in sorted(self.ceph.images(), key=len, reverse=True):
            self.ceph.run("rbd", "rm", "--no-progress", f"rbd/{image}")

    def logical_id(self, number: int) -> list[Any]:
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
        """See `SnapshotContract`: through the device."""
        path = self.get(self.tree.found(disk)).dev_path
        self.machine.run(f"printf %s {content} | dd of={path} bs=512 conv=sync,fsync status=none")

    def test_in_use(self) -> None:
        """A device that somebody has open is not taken away; it has the new size of an image that has grown."""
        self.create()
        path = self.assemble().dev_path
        self.machine.run(f"sleep 1000 < {path} > /dev/null 2>&1 & echo $! > /run/rbd-user")
        self.assertIn("busy", self.refused(self.tree.shutdown(self.disk())))
        self.grow(self.disk(), 8)
        seen = self.look(path)
        assert seen is not None
        self.assertEqual(seen.size, 16)
        self.machine.run("kill $(cat /run/rbd-user); while [ -e /proc/$(cat /run/rbd-user)/fd/0 ]; do sleep 0.1; done")
        self.get(self.tree.shutdown(self.disk()))
        self.assertIsNone(self.look(path))


class InstanceTests(LabCase):
    """An instance that has a disk by a device of the kernel."""

    def test_migrated(self) -> None:
        """It counts, on its image too, and goes on with the next number on another machine; in the end nothing is left."""
        if CAMPAIGN_VARIABLE not in os.environ:
            raise SkipTest("'bin/lab campaign' runs this one")
        need_ceph()
        images, cluster, (old, new) = ceph(), the_cluster(), self.machines[:2]
        self.addCleanup(cluster.run, "gnt-cluster", "modify", *DISABLE)
        cluster.ok("gnt-cluster", "modify", *ENABLE)
        cluster.ok(*ADD, *guest.options(INSTANCE), "-n", cluster.node_name(old), INSTANCE)
        self.addCleanup(cluster.run, "gnt-instance", "remove", "-f", INSTANCE)
        cluster.ok("gnt-instance", "startup", INSTANCE)
        guest.counted(old, INSTANCE, 5)
        self.assertEqual(old.run("ls /dev/rbd?"), "/dev/rbd0\n")
        cluster.ok("gnt-instance", "migrate", "-f", "-n", cluster.node_name(new), INSTANCE)
        before = guest.ticks(old, INSTANCE)
        after = guest.counted(new, INSTANCE, before[-1] + 5)
        self.assertEqual([*before, *after], list(range(before[0], after[-1] + 1)))
        self.assertNotEqual(old.ended("ls /dev/rbd?").returncode, 0)
        cluster.ok("gnt-instance", "shutdown", INSTANCE)
        (image,) = images.images()
        told = images.run("rbd", "export", "--no-progress", f"rbd/{image}", "-")
        self.assertLessEqual(set(after[:-1]), {int(number) for number in guest.TICK_ON_DISK.findall(told)})
        cluster.ok("gnt-instance", "remove", "-f", INSTANCE)
        self.assertEqual(images.images(), [])
