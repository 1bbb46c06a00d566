"""Disks under a real Xen: a guest reads what it wrote, also after it was grown, started anew, and on the other node."""

import re
from collections.abc import Sequence

from ganeti_tx.test.lab.cluster import LabCluster
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.xen_case import XenCase
from ganeti_tx.test.lab.xen_page import DISKS

#: MiB that a disk has, and is given more; and what the guest counts it in.
SIZE, MORE = 16, 16
SECTORS = 2048
#: What its guest has said of its disk: the size of it, and what it read.
DISK = re.compile(r"^disk (\d+) (\d*)$", re.MULTILINE)
#: So often it has written, at least.
TIMES = 3


class DiskTests(XenCase):
    """A guest writes each of its counts to its disk, reads it, and says what it has read."""

    name = "disk1.lab.example"

    def test_file(self) -> None:
        """A file of the node."""
        self.grown("file")

    def test_volume(self) -> None:
        """A logical volume."""
        self.grown("plain")

    def grown(self, template: str) -> None:
        """Its disk is grown while it runs, which it sees at the latest when it is started again; what it wrote is there still."""
        self.started(template)
        self.written(SIZE)
        self.cluster.ok("gnt-instance", "grow-disk", self.name, "0", f"{MORE}m")
        self.written(SIZE, SIZE + MORE)
        self.instance("shutdown")
        last = int(self.disks(self.here)[-1][1])
        self.begins(self.here, "startup")
        found = self.written(SIZE + MORE)
        self.assertIn(int(found[0][1]), (last, last + 1), "it may have written once more before it could say so")
        before = self.domain(self.here)
        self.begins(self.here, "reboot", "-t", "hard")
        self.assertNotEqual(self.domain(self.here), before)
        self.written(SIZE + MORE)
        self.instance("remove", "-f")
        self.assertEqual(self.here.run("losetup -a"), "")

    def test_mirror(self) -> None:
        """A DRBD device: the guest goes on writing on the other node, after a migration as after a failover."""
        self.started("drbd")
        self.written(SIZE)
        device = self.here.run(f"xl block-list {self.name}")
        printed = self.instance("migrate", "-f")
        left, last = self.disks(self.here)[-3:], self.ticks(self.here)[-1]
        self.counted(self.there, last + TIMES)
        come = self.disks(self.there)
        self.assertEqual({sectors for sectors, _ in come}, {str(SIZE * SECTORS)})
        self.assertEqual(self.fields("pnode"), [LabCluster.node_name(self.there)])
        self.begins(self.here, "failover", "-f")
        found = self.written(SIZE)
        self.assertGreaterEqual(int(found[0][1]), int(come[-1][1]))
        said = {
            "``xl block-list`` before": device,
            "``gnt-instance migrate``": printed,
            "The last that the guest said on the source": as_said(left),
            "The last that it said on the target": as_said(come[-3:]),
            "The first that it said after a failover, and before it wrote": as_said(found[:1]),
            "The configuration of its domain": self.here.run(f"cat /etc/xen/{self.name}"),
        }
        self.write(DISKS, said)

    def started(self, template: str) -> None:
        """An instance with one disk runs."""
        self.bring_up()
        self.add(template, "--disk", f"0:size={SIZE}m")
        self.begins(self.here, "startup")

    def disks(self, machine: Machine) -> list[tuple[str, str]]:
        """What its guest has said of its disk there."""
        return DISK.findall(self.said(machine))

    def written(self, *sizes: int) -> list[tuple[str, str]]:
        """What it says of the disk once it has written some times since its start; each count is read as it was written."""
        said = self.says(self.here, lambda said: len(DISK.findall(said)) > TIMES)
        found = DISK.findall(said)
        self.assertLessEqual({sectors for sectors, _ in found}, {str(size * SECTORS) for size in sizes})
        self.assertEqual([count for _, count in found[1:]], [str(number) for number in range(1, len(found))])
        return found


def as_said(found: Sequence[tuple[str, str]]) -> str:
    """The lines again."""
    return "\n".join(f"disk {sectors} {count}" for sectors, count in found)
