"""Tests of what is read from LVM's reports, as it printed them."""

from hypothesis import given, strategies
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.lvm.report import Group, LogicalVolume, Physical, Segment, parse, report_argv
from ganeti_tx.test.node.storage.lvm.captured import captured


def volumes(name: str) -> dict[str, LogicalVolume]:
    """The volumes of an output."""
    return {each.lv_name: each for each in parse(LogicalVolume, captured(name))}


class ReportTests(SynchronousTestCase):
    """Rows of each kind."""

    def test_volumes(self) -> None:
        """Their sizes, tags and device numbers; what is not active has no numbers."""
        found = volumes("volumes.json")
        self.assertEqual(sorted(found), ["striped", "u1.disk0", "u1.disk0.snap-1", "u2.disk0"])
        disk = found["u1.disk0"]
        self.assertEqual((disk.vg_name, disk.size, disk.tags), ("xenvg", 8, ["originstname+web1"]))
        self.assertEqual((disk.lv_kernel_major, disk.lv_kernel_minor), (253, 0))
        self.assertEqual([each.active for each in found.values()], [False, True, True, True])
        self.assertEqual([each.has_own_device for each in found.values()], [True, False, False, True])
        self.assertFalse(any(each.broken or each.in_use for each in found.values()))

    def test_partial(self) -> None:
        """Of those on a lost physical volume it is told; the others are well."""
        self.assertEqual([name for name, each in volumes("volumes_partial.json").items() if each.broken], ["striped"])

    def test_attributes(self) -> None:
        """Attributes of lvs(8): open devices, full snapshots, and volumes that nothing is behind."""
        disk = volumes("volumes.json")["u2.disk0"]
        self.assertTrue(replace(disk, lv_attr="-wi-ao----").in_use)
        for broken in ("swi-I-s---", "vwi---v---", "-wi-a---p-", "-wi-a---X-"):
            self.assertTrue(replace(disk, lv_attr=broken).broken, broken)

    def test_snapshot_size(self) -> None:
        """A snapshot is as large as what it is of, whatever room it has for changes."""
        disk = volumes("volumes.json")["u1.disk0.snap-1"]
        self.assertEqual(replace(disk, lv_size=4 << 20).size, 8)

    def test_none(self) -> None:
        """No rows are no fault."""
        self.assertEqual(parse(LogicalVolume, captured("none.json")), [])

    def test_physical(self) -> None:
        """Physical volumes with their rooms; which may be used, and which are missing."""
        found = parse(Physical, captured("physical.json"))
        self.assertEqual([each.pv_name for each in found], ["/dev/loop1", "/dev/loop2", "/dev/loop3", "/dev/vdb"])
        self.assertEqual((found[1].pv_size, found[1].pv_free, found[1].vg_name), (535822336, 106954752, "xenvg"))
        self.assertEqual({each.allocatable for each in found}, {True})
        closed = parse(Physical, captured("physical_closed.json"))
        self.assertEqual([each.pv_name for each in closed if not each.allocatable], ["/dev/loop1"])
        missing = parse(Physical, captured("physical_missing.json"))
        self.assertEqual([each.pv_name for each in missing if each.missing], ["[unknown]"])

    def test_groups(self) -> None:
        """Volume groups with their rooms."""
        found = {each.vg_name: each for each in parse(Group, captured("groups.json"))}
        self.assertEqual((found["xenvg"].vg_size, found["xenvg"].vg_free), (1607467008, 638582784))
        self.assertEqual(sorted(found), ["bigvg", "xenvg"])

    def test_segments(self) -> None:
        """A volume upon two physical ones is two rows, a striped one is one."""
        found = [(each.lv_name, each.devices) for each in parse(Segment, captured("segments.json"))]
        self.assertEqual(len([each for each in found if each[0] == "u2.disk0"]), 2)
        self.assertIn(("striped", "/dev/loop2(397),/dev/loop3(0)"), found)

    def test_columns(self) -> None:
        """What is asked for is what rows have."""
        argv = report_argv(Group, 'vg_name="xenvg"')
        self.assertEqual(argv[0], "vgs")
        self.assertIn("vg_name,vg_size,vg_free,vg_extent_size,vg_attr", argv)
        self.assertEqual(argv[-2:], ["--select", 'vg_name="xenvg"'])

    @given(strategies.binary(max_size=60))
    def test_nonsense(self, text: bytes) -> None:
        """Anything else is an error in one line."""
        error = self.assertRaises(BlockDeviceError, parse, LogicalVolume, b"{" + text)
        self.assertNotIn("\n", str(error))
