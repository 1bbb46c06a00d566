"""Instances on logical volumes of real nodes, by the commands that an administrator types; volumes are small: all is emulated."""

from ganeti_tx.test.lab import guest
from ganeti_tx.test.lab.case import Chosen, LabCase, the_cluster
from ganeti_tx.test.lab.cluster import LabCluster
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.test_plain import DEVICES, DMSETUP, GROUP, MAKE, REMOVE

ADD = "gnt-instance add -t plain -H fake -o noop --no-install --no-start --no-ip-check --no-name-check --ignore-ipolicy"
GUEST_ADD = "gnt-instance add -t plain --no-start --no-ip-check --no-name-check --no-nics"
NAMES = ("web1", "web2", "web3")
VERIFY = "gnt-cluster verify --error-codes"
#: A program that writes numbers, a second long, while its disk grows, and tells how many it has written.
WRITER = """python3 -c '
import os, time
disk = os.open("{path}", os.O_RDWR)
for number in range(4096):
    os.pwrite(disk, b"%8d" % number * 128, number << 10)
    time.sleep(0.002)
os.fsync(disk)
open("/run/plain.done", "w")
' > /run/plain.log 2>&1 & true"""
READER = """python3 -c '
disk = open("{path}", "rb")
print(sum(disk.read(1024) != b"%8d" % number * 128 for number in range(4096)))'"""


class PlainClusterTests(Chosen, LabCase):
    """A volume group of three small physical volumes on the first machine, beside the one that the cluster uses."""

    always = frozenset()

    def setUp(self) -> None:
        """Make it; what is left is removed afterwards."""
        super().setUp()
        self.cluster: LabCluster = the_cluster()
        self.here: Machine = self.machines[0]
        self.node = self.cluster.node_name(self.here)
        self.addCleanup(self.here.ended, REMOVE)
        self.here.ended(REMOVE)
        self.here.run(MAKE)
        for name in NAMES:
            self.addCleanup(self.cluster.run, "gnt-instance", "remove", "-f", "--ignore-failures", name)

    def ok(self, line: str) -> str:
        """What a command wrote that must succeed."""
        return self.cluster.ok(*line.split())

    def fails(self, line: str) -> str:
        """What a command wrote that must not."""
        ended = self.cluster.run(*line.split())
        self.assertNotEqual(ended.returncode, 0, line)
        return ended.stdout + ended.stderr

    def said(self, line: str) -> str:
        """What a command wrote, however it ended."""
        ended = self.cluster.run(*line.split())
        return ended.stdout + ended.stderr

    def listed(self, columns: str, group: str = GROUP) -> list[list[str]]:
        """The volumes of a group, as LVM tells of them."""
        return [line.split() for line in self.here.run(f"lvs --noheadings -o {columns} {group}").splitlines()]

    def path(self, group: str = GROUP) -> str:
        """The device of the only disk there."""
        [[name]] = self.listed("lv_name", group)
        return f"/dev/{group}/{name}"

    def test_together(self) -> None:
        """All disks of an instance lie on one physical volume that has room for them, marked; names and modes are kept."""
        disks = (
            f"--disk 0:size=50M,vg={GROUP},name=root --disk 1:size=52M,vg={GROUP},mode=ro --disk 2:size=20M,vg={GROUP}"
        )
        self.ok(f"{ADD} {disks} -n {self.node} web1")
        rows = self.listed("lv_size,lv_tags,devices")
        self.assertEqual(len({row[2].partition("(")[0] for row in rows}), 1, rows)
        self.assertEqual({row[1] for row in rows}, {"originstname+web1"})
        self.assertIn("root", self.ok("gnt-instance list --no-headers -o disk.names web1"))
        self.ok("gnt-instance rename --force --no-ip-check --no-name-check web1 web2")
        self.assertEqual({row[0] for row in self.listed("lv_tags")}, {"originstname+web2"})
        volumes = self.ok(f"gnt-node volumes --no-headers -o phys,vg,size,instance {self.node}").splitlines()
        mine = sorted(line.split()[1:] for line in volumes if GROUP in line)
        self.assertEqual([words[-1] for words in mine], ["web2"] * 3)

    def test_adopted(self) -> None:
        """A volume becomes a disk with what is on it; one in use, or not there, does not; a reserved one is no orphan."""
        self.here.run(f"lvcreate -qq -y -n mine -L 8m {GROUP}; echo hello > /dev/{GROUP}/mine")
        adopt = f"{ADD} --disk 0:adopt=mine,vg={GROUP} -n {self.node}"
        self.here.run(f"sleep 1000 < /dev/{GROUP}/mine > /dev/null 2>&1 & echo $! > /run/plain.pid")
        self.assertIn("in use", self.fails(f"{adopt} web1"))
        self.here.run("kill $(cat /run/plain.pid)")
        self.ok(f"{adopt} web1")
        self.assertIn("does not have it", self.fails(f"{adopt} web2"))
        self.assertEqual(self.listed("lv_tags,lv_size"), [["originstname+web1", "8.00m"]])
        self.assertEqual(self.here.run(f"head -c 5 {self.path()}"), "hello")
        self.addCleanup(self.here.ended, "lvremove -qq -f xenvg/left")
        self.here.run("lvcreate -qq -y -n left -L 8m xenvg")
        self.assertIn("ENODEORPHANLV:node:" + self.node + ":volume xenvg/left is unknown", self.said(VERIFY))
        self.addCleanup(self.cluster.run, "gnt-cluster", "modify", "--reserved-lvs=")
        self.ok("gnt-cluster modify --reserved-lvs xenvg/le.*")
        self.assertNotIn("ENODEORPHANLV", self.said(VERIFY))

    def test_units(self) -> None:
        """Physical volumes are told of, closed and opened; nothing new lies on a closed one; room that is lost is done without."""
        closed = f"gnt-node modify-storage --allocatable=no {self.node} lvm-pv {DEVICES[0]}"
        self.ok(closed)
        table = self.ok(f"gnt-node list-storage -t lvm-pv --no-headers -o name,size,used,free,allocatable {self.node}")
        self.assertIn([DEVICES[0], "127M", "0M", "127M", "N"], [line.split() for line in table.splitlines()])
        self.assertEqual(self.here.run(f"pvs --noheadings -o pv_attr {DEVICES[0]}").strip()[0], "u")
        self.ok(f"{ADD} --disk 0:size=16M,vg={GROUP} --disk 1:size=120M,vg={GROUP} -n {self.node} web1")
        self.assertNotIn(DEVICES[0], str(self.listed("devices")))
        self.ok(closed.replace("=no", "=yes"))
        self.assertEqual(self.here.run(f"pvs --noheadings -o pv_attr {DEVICES[0]}").strip()[0], "a")
        self.here.run(f"{DMSETUP} remove {DEVICES[0]}")
        faults = self.ok(f"gnt-node list-storage -t lvm-vg --no-headers -o name,fault {self.node}")
        self.assertIn("lacks physical volumes", faults)
        self.ok(f"gnt-node repair-storage {self.node} lvm-vg {GROUP}")
        self.assertNotIn("lacks", self.ok(f"gnt-node list-storage -t lvm-vg --no-headers -o name,fault {self.node}"))
        self.assertEqual(len(self.listed("lv_name")), 2)

    def test_lost(self) -> None:
        """A disk whose physical volume is lost is faulty; the group is mended only once nothing lies there that is nowhere else."""
        self.ok(f"{ADD} --disk 0:size=8M,vg={GROUP} -n {self.node} web1")
        [[upon]] = self.listed("devices")
        self.ok("gnt-instance deactivate-disks web1")
        self.here.run(f"{DMSETUP} remove {upon.partition('(')[0]}")
        self.assertIn("EINSTANCEFAULTYDISK", self.fails(VERIFY))
        mend = f"gnt-node repair-storage {self.node} lvm-vg {GROUP}"
        self.assertIn("Instance 'web1' has lost its only copy of disk/0", self.fails(mend))
        self.ok("gnt-instance remove -f web1")
        self.ok(mend)
        self.assertEqual(self.here.run(f"vgs --noheadings -o pv_count {GROUP}").strip(), "2")

    def test_missing(self) -> None:
        """A volume that is gone is told of and made anew; so is a group that is gone, and nothing else."""
        self.ok(f"{ADD} --disk 0:size=8M,vg={GROUP} -n {self.node} web1")
        name = self.path()
        self.here.run(f"lvremove -qq -f {name}")
        self.assertIn(
            f"EINSTANCEMISSINGDISK:instance:web1:volume {name[5:]} missing on {self.node}", self.fails(VERIFY)
        )
        self.ok("gnt-instance recreate-disks web1")
        self.assertEqual(self.path(), name)
        self.addCleanup(self.here.ended, "vgrename other xenvg")
        self.here.run("vgrename xenvg other")
        found = [line for line in self.fails(VERIFY).splitlines() if "ENODELVM" in line]
        self.assertEqual(len(found), 1, found)
        self.assertIn(f"ENODELVM:node:{self.node}:volume group 'xenvg' is not on this node", found[0])
        self.here.run("vgrename other xenvg")

    def test_grown(self) -> None:
        """A disk grows, wiped, while a program writes to it, which loses nothing."""
        self.ok(f"{ADD} --disk 0:size=4M,vg={GROUP} -n {self.node} web1")
        self.ok("gnt-instance activate-disks web1")
        self.here.run(WRITER.format(path=self.path()))
        self.addCleanup(self.cluster.run, "gnt-cluster", "modify", "--prealloc-wipe-disks=no")
        self.ok("gnt-cluster modify --prealloc-wipe-disks=yes")
        self.ok("gnt-instance grow-disk web1 0 4M")
        self.here.run("while ! [ -e /run/plain.done ]; do sleep 0.2; done")
        self.assertEqual(self.here.run(READER.format(path=self.path())).strip(), "0")
        self.assertEqual(self.listed("lv_size"), [["8.00m"]])
        self.here.run(f"cmp -i 4194304:0 -n 4194304 {self.path()} /dev/zero")

    def test_guest_grown(self) -> None:
        """A guest goes on while its disk grows, and each of its counts is there."""
        add = f"{GUEST_ADD} --disk 0:size=4M,vg={GROUP} -n {self.node}"
        self.cluster.ok(*add.split(), *guest.options("web1"), "web1")
        self.ok("gnt-instance startup web1")
        before = guest.counted(self.here, "web1", 5)[-1]
        self.ok("gnt-instance grow-disk web1 0 4M")
        self.assertEqual(self.listed("lv_size"), [["8.00m"]])
        guest.counted(self.here, "web1", guest.ticks(self.here, "web1")[-1] + 5)
        self.ok("gnt-instance shutdown web1")
        said = guest.ticks(self.here, "web1")
        self.assertEqual(said, list(range(said[0], said[-1] + 1)))
        self.assertGreater(said[-1], before + 5)
        self.ok("gnt-instance activate-disks web1")
        self.assertEqual({*said} - {*guest.ticks_on_disk(self.here, self.path())}, set())

    def test_converted(self) -> None:
        """What is on a disk is on the file that it becomes, raw or an image, and on the volume that this becomes."""
        self.ok(f"{ADD} --disk 0:size=4M,vg={GROUP} -n {self.node} web1")
        self.ok("gnt-instance activate-disks web1")
        self.here.run(f"head -c 4M /dev/urandom > /run/plain.raw; dd if=/run/plain.raw of={self.path()} status=none")
        self.ok("gnt-instance deactivate-disks web1")
        self.here.run("modprobe fuse")
        for form in ("qcow2", "raw"):
            self.ok(f"gnt-instance modify -t file -e format={form} web1")
            self.assertEqual([self.listed("lv_name", group) for group in (GROUP, "xenvg")], [[], []])
            found = self.here.run("ls /srv/ganeti/file-storage/web1/*").split()
            self.assertEqual(len(found), 1, found)
            self.here.run(f"qemu-img compare -s -f raw -F {form} /run/plain.raw {found[0]}")
            self.ok("gnt-instance modify -t plain web1")
            self.ok("gnt-instance activate-disks web1")
            self.here.run(f"cmp {self.path('xenvg')} /run/plain.raw")
            self.assertEqual(self.listed("lv_tags", "xenvg"), [["originstname+web1"]])
            self.ok("gnt-instance deactivate-disks web1")
