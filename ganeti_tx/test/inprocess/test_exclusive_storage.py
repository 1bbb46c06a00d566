"""Exclusive storage in a whole cluster: disks that have physical volumes for themselves."""

from ganeti_tx.test.inprocess.mirrored_case import MirroredCase

ADD = "gnt-instance add -t plain -o noop -H fake --no-install --no-start --no-name-check --no-ip-check"
SWITCH = "gnt-cluster modify --node-parameters exclusive_storage={}"
#: MiB of a physical volume, and how many each node has.
SIZE, COUNT = 4096, 6
BOUNDS = (
    "--ipolicy-bounds-specs min:memory-size=1,cpu-count=1,disk-count=1,disk-size=1,nic-count=0,spindle-use=1"
    "/max:memory-size=4096,cpu-count=8,disk-count=16,disk-size=1048576,nic-count=8,spindle-use=5"
)
TEMPLATES = "--enabled-disk-templates plain,drbd,file,diskless --ipolicy-disk-templates plain,drbd,file,diskless"
ADD_DISK = "gnt-instance modify --disk add:size=1G{} web1"


class ExclusiveStorageTests(MirroredCase):
    """Nodes with six physical volumes of 4 GiB each."""

    def setUp(self) -> None:
        super().setUp()
        for number in self.numbers:
            self.home(number).volumes.physical, self.home(number).volumes.total = COUNT, COUNT * SIZE
        self.ok(f"gnt-cluster modify {BOUNDS} {TEMPLATES}")
        self.ok(SWITCH.format("True"))

    def spindles(self) -> list[int | None]:
        """What is recorded of the disks of web1."""
        config = self.cluster.config
        [instance] = [each for each in config.instances.values() if each.name == "web1"]
        return [config.disks[uuid].spindles for uuid in instance.disks]

    def told(self, fields: str, node: str = "node2") -> list[str]:
        """What is listed of a node."""
        return self.ok(f"gnt-node list --no-headers --units m -o {fields} {node}").split()

    def test_create(self) -> None:
        """Disks have as few as will do, or as many as are asked for; that is recorded, and counts as used."""
        self.ok(f"{ADD} --disk 0:size=5G --disk 1:size=1G,spindles=2 -n node2 web1")
        self.assertEqual(self.spindles(), [2, 2])
        each = int(SIZE * 0.98)
        self.assertEqual(self.told("sptotal,spfree,dtotal,dfree"), ["6", "2", str(6 * each), str(2 * each)])
        self.fails(f"{ADD} --disk 0:size=9G -n node2 web2", "not enough room in xenvg of node node2.example.com")
        self.fails(f"{ADD} --disk 0:size=1G,spindles=3 -n node2 web2", "cannot have 3 physical volumes")
        self.fails(f"{ADD} --disk 0:size=5G,spindles=1 -n node3 web2", "cannot have 1 physical volumes")
        self.fails(f"{ADD} --disk 0:size=1G,spindles=0 -n node3 web2", "0 spindles are no place for a disk")
        self.ok("gnt-cluster verify")

    def test_change(self) -> None:
        """What is added, grown and made anew has its number recorded; what is moved takes it along."""
        self.ok(f"{ADD} --disk 0:size=1G -n node2 web1")
        self.ok(ADD_DISK.format(",spindles=2"))
        self.ok(ADD_DISK.format(""))
        self.assertEqual(self.spindles(), [1, 2, 1])
        self.ok("gnt-instance grow-disk web1 0 4G")
        self.assertEqual(self.spindles(), [2, 2, 1])
        self.fails("gnt-instance grow-disk web1 0 9G", "physical volumes: 1 are empty")
        self.home(2).volumes.disks.clear()
        self.ok("gnt-instance recreate-disks --disk 0:size=1G --disk 1:spindles=3 --disk 2 web1")
        self.assertEqual(self.spindles(), [1, 3, 1])
        self.ok("gnt-instance move -f -n node3 web1")
        self.assertEqual(self.told("spfree", "node3"), ["1"])

    def test_refused(self) -> None:
        """Other templates are refused, as are spindles where nothing is exclusive."""
        fault = "is not supported with exclusive storage, which node group default has; allowed are diskless, plain"
        self.fails(f"{ADD.replace('plain', 'drbd')} -s 1G -n node2:node3 web1", f"drbd {fault}")
        self.fails(f"{ADD.replace('plain', 'file')} -s 1G -n node2 web1", f"file {fault}")
        self.ok(f"{ADD} -s 1G -n node2 web1")
        self.fails("gnt-instance modify -t drbd -n node3 web1", f"drbd {fault}")
        self.fails("gnt-instance modify -t file web1", f"file {fault}")
        self.ok(SWITCH.format("False"))
        self.fails(f"{ADD} --disk 0:size=1G,spindles=1 -n node2 web2", "which it is not in node group default")
        self.fails(ADD_DISK.format(",spindles=1"), "spindles can be given only where storage is exclusive")
        self.ok("gnt-instance modify -t file web1")
        self.assertEqual(self.spindles(), [None])

    def test_policy(self) -> None:
        """Spindles of the policy are real ones, and the backend parameter does not count."""
        self.fails(f"{ADD} --disk 0:size=1G,spindles=6 -n node2 web1", "spindle-use value 6 is not in range .1, 5.")
        self.ok(f"{ADD} --disk 0:size=1G,spindles=5 -B spindle_use=9 -n node2 web1")

    def test_repair(self) -> None:
        """What was there before the switch is found out by repair-disk-sizes, which verify asks for."""
        self.ok(SWITCH.format("False"))
        self.ok(f"{ADD} -s 1G -n node2 web1")
        self.assertEqual(self.spindles(), [None])
        self.ok(SWITCH.format("True"))
        _, out, err = self.scene().run(["gnt-cluster", "verify"])
        self.assertIn("number of spindles not configured for disk/0", out + err)
        told = self.ok("gnt-cluster repair-disk-sizes")
        self.assertIn("Disk 0 of instance web1 has mismatched spindles, correcting: recorded None, actual 1", told)
        self.assertEqual(self.spindles(), [1])
        self.ok("gnt-cluster verify")

    def test_sizes_differ(self) -> None:
        """Physical volumes of other sizes are refused: at the switch, for a group, and for a node that comes to it."""
        self.ok(SWITCH.format("False"))
        self.home(3).volumes.total *= 2
        fault = "cannot have exclusive storage: PV sizes differ too much in the group; smallest .4096 MB. is on"
        self.fails(SWITCH.format("True"), fault)
        self.fails("gnt-group modify --node-parameters exclusive_storage=True default", fault)
        self.ok("gnt-group add --node-parameters exclusive_storage=True rack2")
        self.ok("gnt-group assign-nodes rack2 node2")
        self.fails("gnt-group assign-nodes rack2 node3", f"node group rack2 {fault}")
        self.home(3).volumes.total //= 2
        self.ok("gnt-group assign-nodes rack2 node3")
        self.ok("gnt-cluster verify")
