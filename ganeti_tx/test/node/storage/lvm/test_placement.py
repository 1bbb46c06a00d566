"""Tests of where new logical volumes lie."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.lvm.placement import fewest, usable, whole
from ganeti_tx.node.storage.lvm.report import Physical

SOME = Physical(
    pv_name="/dev/a", vg_name="xenvg", pv_size=1 << 30, pv_free=0, pv_used=0, pv_attr="a--", vg_extent_size=1 << 22
)


def with_room(**free: int) -> list[Physical]:
    """Physical volumes by the last letter of their names with so many MiB."""
    return [replace(SOME, pv_name=f"/dev/{name}", pv_free=room << 20) for name, room in free.items()]


class PlacementTests(SynchronousTestCase):
    """As few physical volumes as will do."""

    def test_fewest(self) -> None:
        """The emptiest first, and no more than are needed."""
        there = with_room(a=100, b=300, c=200)
        for size, expected in ((1, "b"), (300, "b"), (301, "bc"), (501, "bca"), (601, "bca")):
            self.assertEqual(fewest(there, size), [f"/dev/{name}" for name in expected], size)

    def test_beside(self) -> None:
        """Where the instance's other disks lie, if it fits there; else no more others than needed, and no more at all."""
        there = with_room(a=70, b=100, c=99, d=30)
        for size, beside, expected in (
            (70, "a", "a"),
            (90, "ad", "ad"),
            (95, "a", "b"),
            (120, "a", "ba"),
            (131, "ad", "ab"),
            (180, "a", "bc"),
            (290, "d", "bcad"),
            (400, "d", "bcad"),
        ):
            found = fewest(there, size, beside={f"/dev/{name}" for name in beside})
            self.assertEqual(sorted(found), sorted(f"/dev/{name}" for name in expected), (size, beside))
        self.assertEqual(fewest(there, 100, 2, {"/dev/a"}), ["/dev/a", "/dev/b"])

    def test_closed(self) -> None:
        """Those that take no new volumes, and those that are full, take none."""
        there = [replace(SOME, pv_name="/dev/z", pv_free=1 << 40, pv_attr="u--"), *with_room(a=0, b=10)]
        self.assertEqual(fewest(there, 100), ["/dev/b"])

    def test_stripes(self) -> None:
        """One for each stripe with room for its part; all if there are too few, for LVM to choose or refuse."""
        there = with_room(a=100, b=300, c=200)
        self.assertEqual(fewest(there, 300, stripes=2), ["/dev/b", "/dev/c"])
        self.assertEqual(fewest(there, 500, stripes=2), ["/dev/b", "/dev/c", "/dev/a"])


class ExclusiveTests(SynchronousTestCase):
    """Physical volumes that are one disk's alone."""

    def setUp(self) -> None:
        self.there = [
            replace(SOME, pv_name=f"/dev/{name}", pv_size=1000 << 20, pv_free=free << 20)
            for name, free in (("a", 1000), ("b", 999), ("c", 1000), ("d", 1000))
        ]

    def test_empty(self) -> None:
        """Only empty ones are taken, as few as will do, of which two per cent do not count."""
        for size, count in ((1, 1), (980, 1), (981, 2), (1960, 2), (2940, 3)):
            self.assertEqual(whole(self.there, size), [f"/dev/{name}" for name in "acd"[:count]], size)
        self.assertEqual(usable(self.there[:1]) >> 20, 980)

    def test_spindles(self) -> None:
        """So many as are asked for, if these suffice."""
        self.assertEqual(whole(self.there, 10, 3), ["/dev/a", "/dev/c", "/dev/d"])
        for size, spindles, allowed in ((981, 1, "2 to 3"), (10, 4, "1 to 3"), (10, 0, "1 to 3")):
            error = self.assertRaises(BlockDeviceError, whole, self.there, size, spindles)
            self.assertIn(f"allowed are {allowed}", str(error))

    def test_too_large(self) -> None:
        """What does not fit is refused with what there is."""
        error = self.assertRaises(BlockDeviceError, whole, self.there, 2941)
        self.assertIn("3 are, with 2940 MiB", str(error))
        self.assertRaises(BlockDeviceError, whole, [], 1)
