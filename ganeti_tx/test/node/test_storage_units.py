"""Tests of storage units with LVM's own answers, and of directories."""

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.storage_unit import UnitState
from ganeti_tx.node.storage.lvm.pools import PhysicalVolumes, VolumeGroups
from ganeti_tx.node.storage.lvm.tools import LvmTools
from ganeti_tx.node.storage_units import StorageUnits
from ganeti_tx.rpc.calls.storage import NodeVolumes, StorageExecute, StorageList, StorageModify
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.contracts.storage import StorageTestCase
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.node.storage.lvm.captured import captured


class StorageUnitsTests(StorageTestCase):
    """Node calls."""

    def setUp(self) -> None:
        self.runner = FakeProcessRunner()
        self.report(physical="physical.json")
        tools = LvmTools(self.runner)
        self.units = StorageUnits({"lvm-vg": VolumeGroups(tools), "lvm-pv": PhysicalVolumes(tools)})

    def report(self, physical: str, groups: str = "groups.json", volumes: str = "volumes.json") -> None:
        """What is there."""
        for program, name in (("pvs", physical), ("vgs", groups), ("lvs", volumes)):
            self.runner.script([program], ProcessResult(stdout=captured(name)))

    def listed(self, kind: StorageType, unit: str | None = None) -> list[UnitState]:
        """The units."""
        return self.get(self.units.list_units(StorageList(storage_type=kind.value, unit=unit)))

    def test_groups(self) -> None:
        """Volume groups, or one of them."""
        self.assertEqual([each.name for each in self.listed(StorageType.LVM_VG)], ["bigvg", "xenvg"])
        (one,) = self.listed(StorageType.LVM_VG, "xenvg")
        self.assertEqual((one.size, one.used, one.free, one.allocatable), (1533, 924, 609, True))
        self.assertEqual(self.listed(StorageType.LVM_VG, "other"), [])

    def test_physical(self) -> None:
        """Physical volumes; one that is not there is not told."""
        self.assertEqual(
            [(each.name, each.free) for each in self.listed(StorageType.LVM_PV)],
            [("/dev/loop1", 0), ("/dev/loop2", 102), ("/dev/loop3", 507), ("/dev/vdb", 4092)],
        )
        self.report(physical="physical_missing.json")
        self.assertEqual(len(self.listed(StorageType.LVM_PV)), 3)

    def test_allocatable(self) -> None:
        """It is changed where it is not so already."""
        self.report(physical="physical_closed.json")
        self.runner.script(["pvchange"], ProcessResult())
        for unit, allowed in (("/dev/loop1", False), ("/dev/loop1", True), ("/dev/loop2", False)):
            call = StorageModify(storage_type="lvm-pv", unit=unit, allocatable=allowed)
            self.get(self.units.modify(call))
        self.assertEqual(
            [argv for argv in self.runner.commands if argv[0] == "pvchange"],
            [["pvchange", "--allocatable", "y", "/dev/loop1"], ["pvchange", "--allocatable", "n", "/dev/loop2"]],
        )
        call = StorageModify(storage_type="lvm-pv", unit="/dev/nope", allocatable=True)
        self.assertIn("'/dev/nope' is not on this node", self.refused(self.units.modify(call)))

    def test_room(self) -> None:
        """New volumes have no room on what is closed to them."""
        pools = VolumeGroups(LvmTools(self.runner))
        self.assertEqual(self.get(pools.space("xenvg", {})).free, 609)
        before, closed = (f'"pv_used":"4194304", "pv_attr":"{attr}"'.encode() for attr in ("a--", "u--"))
        self.assertIn(before, captured("physical.json"))
        self.runner.script(["pvs"], ProcessResult(stdout=captured("physical.json").replace(before, closed)))
        space = self.get(pools.space("xenvg", {}))
        self.assertEqual((space.size, space.free), (1533, 102))

    def test_mended(self) -> None:
        """A group does without what it lost, unless volumes lay there, which are named."""
        call = StorageExecute(storage_type="lvm-vg", unit="xenvg", operation="fix-consistency")
        self.runner.script(["vgreduce"], ProcessResult())
        self.get(self.units.mend(call))
        self.assertEqual(self.runner.commands[-1], ["vgreduce", "--removemissing", "xenvg"])
        self.report("physical_missing.json", "groups_partial.json", "volumes_partial.json")
        self.runner.script(["vgreduce"], ProcessResult(status=5, stderr=b"  WARNING: Couldn't find device\n"))
        self.assertIn("parts of striped lay there", self.refused(self.units.mend(call)))
        for bad, text in ((("lvm-vg", "burn"), "burn"), (("lvm-pv", "fix-consistency"), "these can: lvm-vg")):
            call = StorageExecute(storage_type=bad[0], unit="xenvg", operation=bad[1])
            self.assertIn(text, self.refused(self.units.mend(call), BlockDeviceError))

    def test_partial(self) -> None:
        """A group that lacks something has a fault."""
        self.report("physical_missing.json", "groups_partial.json")
        self.assertIn("lacks physical volumes", str(self.get(VolumeGroups(LvmTools(self.runner)).fault("xenvg"))))

    def test_spindles(self) -> None:
        """The room of physical volumes is how many are empty, of how many."""
        space = self.get(PhysicalVolumes(LvmTools(self.runner)).space("bigvg", {}))
        self.assertEqual((space.size, space.free), (1, 1))
        space = self.get(PhysicalVolumes(LvmTools(self.runner)).space("xenvg", {}))
        self.assertEqual((space.size, space.free), (3, 0))

    def test_volumes(self) -> None:
        """Each volume once for each device that it lies upon; none without LVM."""
        self.runner.script(["lvs"], ProcessResult(stdout=captured("segments.json")))
        found = self.get(self.units.volumes(NodeVolumes()))
        self.assertEqual(
            [(each.name, each.physical) for each in found if each.name in ("striped", "u2.disk0")],
            [("striped", "/dev/loop2"), ("striped", "/dev/loop3"), ("u2.disk0", "/dev/loop1"), ("u2.disk0", "/dev/loop2")],
        )  # fmt: skip
        nothing = LvmTools(FakeProcessRunner())
        self.assertEqual(self.get(StorageUnits({"lvm-vg": VolumeGroups(nothing)}).volumes(NodeVolumes())), [])
        self.assertEqual(self.get(StorageUnits({}).volumes(NodeVolumes())), [])
