"""Storage units and volumes of nodes in a whole cluster, by `gnt-node`."""

from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.fakes.volume_groups import DEVICE
from ganeti_tx.test.inprocess.mirrored_case import ADD, MirroredCase


class StorageUnitsTests(MirroredCase):
    """`gnt-node list-storage`, `modify-storage`, `repair-storage` and `volumes`."""

    def rows(self, line: str) -> list[list[str]]:
        """The lines of a table as words."""
        return [each.split() for each in self.ok(line).splitlines()]

    def test_volumes(self) -> None:
        """Each volume with what it lies upon and whose it is; of a node that is offline nothing is told."""
        self.assertEqual(self.ok("gnt-node volumes"), "Node PhysDev VG Name Size Instance\n")
        self.ok(f"{ADD} web1")
        head, *rows = self.rows("gnt-node volumes")
        self.assertEqual(head, ["Node", "PhysDev", "VG", "Name", "Size", "Instance"])
        self.assertEqual(sorted({(row[0], row[-1]) for row in rows}), [
            ("node2.example.com", "web1"), ("node3.example.com", "web1"),
        ])  # fmt: skip
        self.assertEqual(sorted({row[4] for row in rows}), ["1.0G", "128M"])
        data = self.rows("gnt-node volumes --no-headers --units m -o name,size,dev node2")
        self.assertEqual([words[1] for words in data], ["1024", "128"])
        self.assertTrue(all(words[2] == f"/dev/xenvg/{words[0]}" for words in data), data)
        self.home(3).volumes.disks["xenvg/left.over"] = self.home(3).volumes.disks.popitem()[1]
        self.assertIn(["left.over", "-"], self.rows("gnt-node volumes --no-headers -o name,instance node3"))
        self.ok("gnt-node modify -f --offline=yes node3")
        self.assertEqual({row[0] for row in self.rows("gnt-node volumes --no-headers")}, {"node2.example.com"})
        self.fails("gnt-node volumes nosuch", "nosuch")
        self.fails("gnt-node volumes -o nonsense", "Unknown output fields selected: nonsense; there are node, phys,")

    def test_directory_not_allowed(self) -> None:
        """A directory that no node may use is taken, as by Ganeti, but not without a word."""
        before = self.cluster.config.cluster.file_storage_dir
        self.ok("gnt-cluster modify --enabled-disk-templates drbd,file --ipolicy-disk-templates drbd,file")
        said = self.ok("gnt-cluster modify --file-storage-dir=/etc")
        self.assertIn("WARNING: no disks can be made there on node1.example.com, node2.example.com, node3", said)
        self.assertIn("/etc", said)
        self.assertEqual(self.cluster.config.cluster.file_storage_dir, "/etc")
        self.assertNotIn("WARNING", self.ok(f"gnt-cluster modify --file-storage-dir={before}"))

    def test_list(self) -> None:
        """The units of each type, of all nodes or some; a node that does not answer is warned of."""
        head, *rows = self.rows("gnt-node list-storage -t lvm-vg")
        self.assertEqual(head, ["Node", "Type", "Name", "Size", "Used", "Free", "Allocatable"])
        self.assertEqual(rows[0], ["node1.example.com", "lvm-vg", "xenvg", "1.0T", "0M", "1.0T", "Y"])
        self.assertEqual(len(rows), 3)
        self.assertEqual(
            self.rows("gnt-node list-storage -t lvm-pv --no-headers -o name,node node2"),
            [[DEVICE, "node2.example.com"]],
        )
        self.assertEqual(
            self.rows("gnt-node list-storage --no-headers -o type,name node3"), [["file", "/srv/ganeti/file-storage"]]
        )
        self.cluster.node(2).stop()
        _, out, err = self.scene().run(["gnt-node", "list-storage", "-t", "lvm-vg", "--no-headers"])
        self.assertIn("Can't get storage data from node node2.example.com: ", out + err)
        self.assertEqual(len([line for line in out.splitlines() if " lvm-vg " in line]), 2)

    def test_not_listed(self) -> None:
        """Storage that the cluster does not use, and that which has no units, is refused with what there is."""
        self.fails("gnt-node list-storage -t gluster", "No disk template of storage type 'gluster' is enabled")
        self.fails("gnt-node list-storage -t bogus", "bogus")
        self.ok("gnt-cluster modify --enabled-disk-templates diskless --ipolicy-disk-templates diskless")
        self.fails(
            "gnt-node list-storage",
            "Storage reporting for storage type 'diskless' is not supported. Please use the --storage-type option",
        )
        self.fails(
            "gnt-node list-storage -t lvm-pv",
            "No disk template of storage type 'lvm-vg' is enabled in this cluster. Enabled disk templates are: diskless",
        )

    def test_modify(self) -> None:
        """A physical volume is closed for new volumes, and opened; what cannot be changed is refused."""
        closed = f"gnt-node modify-storage --allocatable=no node2 lvm-pv {DEVICE}"
        self.ok(closed.replace("modify-storage", "modify-storage --dry-run"))
        for value, shown in (("no", "N"), ("yes", "Y")):
            self.ok(f"gnt-node modify-storage --allocatable={value} node2 lvm-pv {DEVICE}")
            self.assertEqual(
                self.rows("gnt-node list-storage -t lvm-pv --no-headers -o allocatable"),
                [["Y"], [shown], ["Y"]],
            )
        self.fails("gnt-node modify-storage --allocatable=no node2 lvm-pv /dev/nope", "there are: /dev/sdb")
        nothing = self.scene().run(f"gnt-node modify-storage node2 lvm-pv {DEVICE}".split())
        self.assertEqual(nothing, (0, "", "No changes to perform, exiting.\n"))
        self.fails("gnt-node modify-storage --allocatable=no node2 lvm-vg xenvg", "lvm-vg")
        self.ok("gnt-node modify -f --offline=yes node3")
        self.fails(f"gnt-node modify-storage --allocatable=no node3 lvm-pv {DEVICE}", "offline node")

    def test_repair(self) -> None:
        """A volume group is mended while other nodes have good copies of all disks; else only if told so."""
        self.ok(f"{ADD} web1")
        repair = "gnt-node repair-storage {} node2 lvm-vg xenvg"
        self.ok(repair.format(""))
        self.assertEqual(self.cluster.node(2).volume_groups.mended, ["xenvg"])
        self.fails("gnt-node repair-storage node2 lvm-vg other", "'other' is not on this node; there are: xenvg")
        self.cluster.node(3).mirror_node.lose_power()  # type: ignore[union-attr]
        self.fails(repair.format(""), "Instance 'web1' has faulty disks on node 'node3.example.com': disk/0")
        self.assertEqual(self.cluster.node(2).volume_groups.mended, ["xenvg"])
        self.ok(repair.format("--ignore-consistency"))
        self.assertEqual(self.cluster.node(2).volume_groups.mended, ["xenvg"] * 2)
        self.fails("gnt-node repair-storage node2 lvm-pv /dev/sdb", "lvm-pv")

    def test_repair_alone(self) -> None:
        """It is refused while a node that has the other copies is broken, too; of those that share nothing nobody minds."""
        self.ok(f"{ADD} web1")
        repair = "gnt-node repair-storage node2 lvm-vg xenvg"
        for number in (1, 2, 3):
            self.cluster.node(number).volume_groups.lacking = True
        self.fails(
            repair, "node 'node3.example.com', which has the other copies, is broken, too: volume group 'xenvg' lacks"
        )
        self.cluster.node(3).volume_groups.lacking = False
        self.ok(repair)
        self.assertFalse(self.cluster.node(2).volume_groups.lacking)

    def test_repair_stopped(self) -> None:
        """Of an instance that is stopped the volumes on the other node must be there; the only copy must be good."""
        repair = "gnt-node repair-storage node2 lvm-vg xenvg"
        self.ok(f"{ADD} --no-start web1")
        self.ok("gnt-instance deactivate-disks web1")
        self.ok(repair)
        kept = dict(self.home(3).volumes.disks)
        self.home(3).volumes.disks.clear()
        self.fails(repair, "Instance 'web1' has faulty disks on node 'node3.example.com': disk/0")
        self.home(3).volumes.disks.update(kept)
        self.ok("gnt-cluster modify --enabled-disk-templates plain,drbd --ipolicy-disk-templates plain,drbd")
        self.ok(
            "gnt-instance add -t plain -s 1G -o noop -H fake --no-name-check --no-ip-check --ignore-ipolicy -n node2 db1"
        )
        self.ok(repair)
        [disk] = [disk for disk in self.cluster.config.disks.values() if not disk.children]
        self.home(2).volumes.disks["/".join(map(str, disk.logical_id or ()))].health = LocalDiskStatus.FAULTY
        self.fails(repair, "Instance 'db1' has lost its only copy of disk/0 on node 'node2.example.com'")
        self.ok(repair.replace("node2", "--ignore-consistency node2"))
        self.ok("gnt-instance shutdown db1")
        self.ok("gnt-instance recreate-disks db1")

    def lose(self, number: int) -> None:
        """All that lies in the volume group of a node."""
        for disk in self.home(number).volumes.disks.values():
            disk.health = LocalDiskStatus.FAULTY
        self.cluster.node(number).volume_groups.lacking = True

    def test_repair_lost(self) -> None:
        """What a disk has lost goes, while it is in use, too, as nothing can be made there before; then it gets a new copy."""
        self.ok(f"{ADD} web1")
        self.lose(2)
        told = self.ok("gnt-node repair-storage node2 lvm-vg xenvg")
        self.assertIn("'gnt-instance replace-disks -a web1' makes a new one", told)
        self.assertFalse(self.cluster.node(2).volume_groups.lacking)
        self.assertEqual(self.home(2).volumes.disks, {})
        self.ok("gnt-instance replace-disks -a web1")
        self.assertEqual(len(self.home(2).volumes.disks), 2)
        self.ok("gnt-cluster verify")

    def test_repair_lost_stopped(self) -> None:
        """Nothing of disks that are not ready is removed before they are, and good on the other node, unless it is told so."""
        repair = "gnt-node repair-storage node2 lvm-vg xenvg"
        self.ok(f"{ADD} --no-start web1")
        self.ok("gnt-instance deactivate-disks web1")
        self.lose(2)
        self.fails(repair, "start it with 'gnt-instance startup --force web1'")
        self.assertEqual(len(self.home(2).volumes.disks), 2)
        self.ok(repair.replace("node2", "--ignore-consistency node2"))
        self.assertEqual(self.home(2).volumes.disks, {})

    def test_repair_lost_started(self) -> None:
        """The copy on the second node is seen not to be needed once the instance runs without it."""
        self.ok(f"{ADD} --no-start web1")
        self.ok("gnt-instance deactivate-disks web1")
        self.lose(3)
        self.ok("gnt-instance startup --force web1")
        self.ok("gnt-node repair-storage node3 lvm-vg xenvg")
        self.assertEqual(self.home(3).volumes.disks, {})
        self.ok("gnt-instance replace-disks -a web1")
        self.ok("gnt-cluster verify")

    def test_repair_lost_orphan(self) -> None:
        """What is of no instance stays, and with it the fault."""
        self.ok(f"{ADD} web1")
        self.ok("gnt-instance remove -f web1")
        self.home(2).volumes.disks["xenvg/left"] = FakeDisk(4)
        self.lose(2)
        self.fails("gnt-node repair-storage node2 lvm-vg xenvg", "parts of left lay there; remove these first")

    def test_verified(self) -> None:
        """Verification tells of a volume group that lacks something, and the list has a field for it."""
        self.cluster.node(2).volume_groups.lacking = True
        status, out, err = self.scene().run(["gnt-cluster", "verify", "--error-codes"])
        self.assertEqual(status, 1)
        self.assertIn("ERROR:ENODELVM:node:node2.example.com:volume group 'xenvg' lacks physical volumes", out + err)
        told = self.rows("gnt-node list-storage -t lvm-vg --no-headers -o node,fault")
        self.assertEqual([words[0] for words in told if len(words) > 1], ["node2.example.com"])

    def test_no_place(self) -> None:
        """The template plain is not enabled without a volume group, and is with one that comes at the same time."""
        self.ok("gnt-cluster modify --enabled-disk-templates file --ipolicy-disk-templates file --vg-name=")
        enable = "gnt-cluster modify --enabled-disk-templates file,plain --ipolicy-disk-templates file,plain"
        self.fails(enable, "disk template plain has no place: the cluster's volume_group_name is not set")
        self.home(2).volumes.total = 20479
        self.fails(f"{enable} --vg-name xenvg", "volume group 'xenvg' too small .20479 MiB, 20480 MiB minimum")
        self.home(2).volumes.total, self.home(3).volumes.lost = 20480, {"xenvg"}
        self.fails(f"{enable} --vg-name xenvg", "Error on node 'node3.example.com': volume group 'xenvg' missing")
        self.home(3).volumes.lost = set()
        self.ok(f"{enable} --vg-name xenvg")
        self.fails("gnt-cluster modify --vg-name=", "cannot be taken away: disk template plain is enabled and needs it")
        self.ok(
            "gnt-instance add -t plain -s 1G -o noop -H fake --no-name-check --no-ip-check --ignore-ipolicy -n node2 web1"
        )
        self.assertEqual(self.rows("gnt-node volumes --no-headers -o instance,size"), [["web1", "1.0G"]])
        self.ok("gnt-instance remove -f web1")
        self.assertEqual(self.ok("gnt-node volumes --no-headers"), "")
