"""An instance on mirrors between machines: what befalls it, and whether its data are there in the end."""

import time

from ganeti_tx.test.lab import guest
from ganeti_tx.test.lab.case import Chosen, LabCase, the_cluster, the_lab
from ganeti_tx.test.lab.machine import Machine

INSTANCE = "web2.lab.example"
ADD = ["gnt-instance", "add", "-t", "drbd", "--disk", "0:size=32m", "--no-name-check", "--no-ip-check", "--no-nics"]
DEVICE = "/dev/drbd0"
#: What else is written than what the guest counts: 8 MiB, the same for the same number.
WRITE = f"yes written-{{}} | dd of={DEVICE} bs=1M seek=8 count=8 iflag=fullblock oflag=direct status=none"
READ = f"dd if={DEVICE} bs=1M skip=8 count=8 iflag=direct status=none | sha256sum"
#: A volume and a mirror upon it that nobody has configured; and their end.
FOREIGN = """set -e; lvcreate -qqy -L 8M -n orphan xenvg; drbdmeta --force 77 v08 /dev/xenvg/orphan internal create-md
drbdsetup new-resource foreign; drbdsetup new-minor foreign 77 0
drbdsetup attach 77 /dev/xenvg/orphan /dev/xenvg/orphan internal"""
NOT_FOREIGN = "drbdsetup down foreign; lvremove -qqf xenvg/orphan"


class MirroredCase(LabCase):
    """An instance with a guest that counts, and with data beside what that writes."""

    def setUp(self) -> None:
        """The cluster of the machines."""
        super().setUp()
        self.cluster = the_cluster()
        self.first, self.second = self.machines[:2]

    def write(self, machine: Machine, number: int) -> str:
        """What is read again of what an instance has written."""
        machine.run(WRITE.format(number))
        return machine.run(READ)

    def place(self) -> list[str]:
        """Where the instance is, and how; a list gives up on a busy node, and is asked for again then."""
        line = ("gnt-instance", "list", "--no-headers", "-o", "pnode,snodes,status", INSTANCE)
        deadline = time.monotonic() + guest.LIMIT
        while (found := self.cluster.ok(*line).split())[-1] == "ERROR_nodedown" and time.monotonic() < deadline:
            time.sleep(0.3)
        return found

    def counted(self, machine: Machine, more: int = 5) -> list[int]:
        """What the guest says on a machine, when it has counted on."""
        seen = len(guest.ticks(machine, INSTANCE))
        deadline = time.monotonic() + guest.LIMIT
        while len(said := guest.ticks(machine, INSTANCE)) < seen + more:
            self.assertLess(time.monotonic(), deadline, f"the guest does not count on: {said}")
            time.sleep(0.3)
        return said

    def do(self, line: str) -> str:
        """A command on the instance that must succeed."""
        verb, *options = line.split()
        return self.cluster.ok("gnt-instance", verb, *options, INSTANCE)

    def assert_place(self, primary: Machine, secondary: Machine) -> None:
        """It runs on one, and the other has the second copy."""
        nodes = [self.cluster.node_name(primary), self.cluster.node_name(secondary)]
        self.assertEqual(self.place(), [*nodes, "running"])
        self.assertIn("0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate", primary.run("cat /proc/drbd"))

    def add(self) -> None:
        """It runs on the first machine, its second copy is on the second one."""
        nodes = f"{self.cluster.node_name(self.first)}:{self.cluster.node_name(self.second)}"
        self.cluster.ok(*ADD, *guest.options(INSTANCE), "-n", nodes, INSTANCE)
        self.addCleanup(self.cluster.run, "gnt-instance", "remove", "-f", INSTANCE)
        self.do("startup")
        self.assert_place(self.first, self.second)


class WalkTests(MirroredCase):
    """Made, cut, failed over, replaced, migrated."""

    def test_create_fail_replace_migrate(self) -> None:
        """What was written last is read on whichever node has the instance; its guest goes on; nothing stays of it."""
        first, second, cluster = self.first, self.second, self.cluster
        self.add()
        written = self.write(first, 1)
        last = self.counted(first)[-1]

        self.addCleanup(lambda: None if first.is_on else cluster.power_up(first))
        first.cut()
        self.do("failover -f --ignore-consistency")
        self.assertEqual(second.run(READ), written)
        self.assertGreater(self.counted(second)[0], last)  # what it had said was on both disks
        written = self.write(second, 2)
        cluster.power_up(first)
        self.do("activate-disks --wait-for-sync")
        self.assert_place(second, first)

        self.do("replace-disks -s")
        self.assert_place(second, first)
        self.do("migrate -f")
        self.assert_place(first, second)
        self.assertEqual(first.run(READ), written)
        said = guest.ticks(second, INSTANCE) + self.counted(first)
        self.assertEqual(said, list(range(said[0], said[0] + len(said))))
        cluster.verify()

        self.do("remove -f")
        for machine in (first, second):
            self.assertEqual(machine.run("lvs --noheadings -o lv_name xenvg").split(), [])
            self.assertNotIn(" cs:", machine.run("cat /proc/drbd"))


class OrphanTests(Chosen):
    """What is on a machine, and in nobody's configuration."""

    always = frozenset()

    def test_verify(self) -> None:
        """The volume and the minor are told of, each with its node; and no longer when they are gone."""
        cluster, first = the_cluster(), the_lab().machine(1)
        self.addCleanup(first.ended, NOT_FOREIGN)
        first.run(FOREIGN)
        ended = cluster.run("gnt-cluster", "verify", "--error-codes")
        node = cluster.node_name(first)
        self.assertIn(f"ENODEORPHANLV:node:{node}:volume xenvg/orphan is unknown", ended.stdout)
        self.assertIn(f"ENODEDRBD:node:{node}:DRBD minor 77 is in use, and no disk has it", ended.stdout)
        self.assertEqual(ended.returncode, 1)
        first.run(NOT_FOREIGN)
        cluster.verify()
