"""A disk of a node breaks for good: what is mended of its volume group, by hand and by the watcher, and what is refused."""

from twisted.trial.unittest import TestCase

from ganeti_tx.test.lab.case import Chosen
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.test_mirrors import INSTANCE, READ, MirroredCase
from ganeti_tx.test.lab.test_plain import DMSETUP

#: A second physical volume of the cluster's volume group, on the machine's free disk but for its beginning, where LVM would
#: find it twice.
DEVICE = "/dev/mapper/lab-spare"
TABLE = f"0 {512 << 11} linear /dev/vdc {1 << 11}"
ADD_DEVICE = f"""set -e; {DMSETUP} create lab-spare --table '{TABLE}'
pvcreate -qq -ff -y {DEVICE}; vgextend -qq xenvg {DEVICE}"""
#: Every access to it fails from now on.
BREAK = f"{DMSETUP} remove --force lab-spare 2>/dev/null; ! dd if={DEVICE} of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null"
REMOVE_DEVICE = f"""vgreduce -qq xenvg {DEVICE} || vgreduce -qq --removemissing --force xenvg
{DMSETUP} reload lab-spare --table '{TABLE}' && {DMSETUP} resume lab-spare; wipefs -qaf {DEVICE}; {DMSETUP} remove lab-spare"""
REPAIR = "gnt-node repair-storage {} lvm-vg xenvg"


class RepairTests(Chosen, MirroredCase, TestCase):
    """The cluster's volume group has a second physical volume on two machines."""

    always = frozenset()

    def setUp(self) -> None:
        """Make them; what is left is removed afterwards."""
        super().setUp()
        self.nodes = [self.cluster.node_name(machine) for machine in (self.first, self.second)]
        for machine in (self.first, self.second):
            self.addCleanup(machine.ended, REMOVE_DEVICE)
            machine.ended(REMOVE_DEVICE)
            machine.run(ADD_DEVICE)

    def add_upon(self, machine: Machine) -> None:
        """The instance; its copy on a machine lies on the device that will break, the other one does not."""
        for each in (self.first, self.second):
            closed = "/dev/vdb" if each is machine else DEVICE
            self.addCleanup(each.ended, f"pvchange -qq --allocatable y {closed}")
            self.ok(f"gnt-node modify-storage --allocatable=no {self.cluster.node_name(each)} lvm-pv {closed}")
        self.add()
        self.assertEqual(self.lies_upon(machine), {DEVICE})
        for each in (self.first, self.second):
            closed = "/dev/vdb" if each is machine else DEVICE
            self.ok(f"gnt-node modify-storage --allocatable=yes {self.cluster.node_name(each)} lvm-pv {closed}")

    def ok(self, line: str) -> str:
        """What a command wrote that must succeed."""
        return self.cluster.ok(*line.split())

    def fails(self, line: str) -> str:
        """What a command wrote that must not."""
        ended = self.cluster.run(*line.split())
        self.assertNotEqual(ended.returncode, 0, line)
        return ended.stdout + ended.stderr

    def watched(self) -> list[str]:
        """What a run of the watcher says of volume groups."""
        log = self.cluster.root / "var/log/ganeti/watcher.log"
        before = len(log.read_text()) if log.exists() else 0
        self.ok("ganeti-watcher")
        return [line for line in log.read_text()[before:].splitlines() if "volume group repair" in line]

    def lies_upon(self, machine: Machine) -> set[str]:
        """The physical volumes that anything lies on."""
        return {
            line.strip().partition("(")[0] for line in machine.run("lvs --noheadings -o devices xenvg").splitlines()
        }

    def test_watched(self) -> None:
        """The node that alone is broken is mended by the watcher; the instance runs on and gets a new copy there."""
        self.add_upon(self.second)
        self.assertEqual(self.watched(), [])
        written = self.write(self.first, 1)
        self.second.run(BREAK)
        self.counted(self.first)
        told = self.fails("gnt-cluster verify --error-codes")
        self.assertIn(f"ENODELVM:node:{self.nodes[1]}:volume group 'xenvg' lacks physical volumes", told)
        told = "\n".join(self.watched())
        self.assertIn(f"node {self.nodes[1]} is mended", told)
        self.ok(f"gnt-instance replace-disks -a {INSTANCE}")
        self.assert_place(self.first, self.second)
        self.assertEqual(self.first.run(READ), written)
        self.assertEqual(self.lies_upon(self.second), {"/dev/vdb"})
        self.assertEqual(self.watched(), [])
        self.counted(self.first)
        self.ok("gnt-cluster verify")

    def test_both(self) -> None:
        """Two that are broken are left to an administrator, who is refused, too; where nothing is lost he may insist. Then
        the primary node is mended under a guest that counts on.
        """
        self.add_upon(self.first)
        self.assertEqual(self.watched(), [])
        written = self.write(self.first, 1)
        for machine in (self.first, self.second):
            machine.run(BREAK)
        self.counted(self.first)
        told = "\n".join(self.watched())
        self.assertIn(f"nodes {', '.join(self.nodes)} are broken; they are left to an administrator", told)
        for node, other in (self.nodes, self.nodes[::-1]):
            self.assertIn(
                f"node '{other}', which has the other copies, is broken, too", self.fails(REPAIR.format(node))
            )
        self.ok(REPAIR.format(f"--ignore-consistency {self.nodes[1]}"))
        told = self.ok(REPAIR.format(self.nodes[0]))
        self.assertIn(f"'gnt-instance replace-disks -a {INSTANCE}' makes a new one", told)
        self.counted(self.first)
        self.ok(f"gnt-instance replace-disks -a {INSTANCE}")
        self.assert_place(self.first, self.second)
        self.assertEqual(self.first.run(READ), written)
        self.assertEqual(self.lies_upon(self.first), {"/dev/vdb"})
        self.ok("gnt-cluster verify")
