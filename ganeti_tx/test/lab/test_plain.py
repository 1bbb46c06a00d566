"""Logical volumes upon real LVM keep the contracts of disks; where they lie, and what becomes of them in use and when devices
are lost.
"""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.node.storage.lvm.driver import LogicalVolumes
from ganeti_tx.node.storage.lvm.pools import PhysicalVolumes, VolumeGroups
from ganeti_tx.node.storage.lvm.tools import LvmTools
from ganeti_tx.node.storage.streams import read_command, write_command
from ganeti_tx.test.contracts.storage import OneDeviceContract, PoolsContract, StorageTestCase
from ganeti_tx.test.contracts.storage_abilities import ExistingContract, OwnerMarkContract, SnapshotContract
from ganeti_tx.test.lab.case import Chosen, KeptLogs, runner_on, the_lab

GROUP = "plainvg"
#: The machine has no udev that would make the devices.
DMSETUP = "DM_DISABLE_UDEV=1 dmsetup"
DEVICES = ("/dev/mapper/lab-plain1", "/dev/mapper/lab-plain2", "/dev/mapper/lab-plain3")
SIZE = 128
#: Three physical volumes, parts of the machine's free disk but for its beginning, where LVM would find the first one twice;
#: their extents are 1 MiB, so that no size is rounded.
MAKE = "\n".join(
    [
        "set -e",
        *(
            f"{DMSETUP} create {device.rpartition('/')[2]} --table '0 {SIZE << 11} linear /dev/vdc {number * SIZE + 1 << 11}'"
            for number, device in enumerate(DEVICES)
        ),
        f"pvcreate -qq -ff -y {' '.join(DEVICES)}",
        f"vgcreate -qq -s 1m {GROUP} {' '.join(DEVICES)}",
    ]
)
REMOVE = "\n".join(
    [
        f"vgremove -qq -ff -y {GROUP} 2>/dev/null",
        *(f"wipefs -qaf {device}; {DMSETUP} remove {device.rpartition('/')[2]}" for device in DEVICES),
        "rm -f /run/plain.*",
    ]
)
#: Writes numbers, of a KiB each, one after the other and each before the next.
WRITER = """python3 -c '
import os
disk = os.open("{path}", os.O_RDWR | os.O_DSYNC)
for number in range(4096):
    os.pwrite(disk, b"%8d" % number * 128, number << 10)
open("/run/plain.done", "w")
' > /run/plain.log 2>&1 & true"""
#: How many of them are there; an error where one is that should not be, or one lacks.
READER = """python3 -c '
blocks = open("{path}", "rb").read(4 << 20)
found = [blocks[at : at + 1024] == b"%8d" % (at >> 10) * 128 for at in range(0, 4 << 20, 1024)]
assert found == sorted(found, reverse=True), found
print(sum(found))'"""


class OnVolumes(KeptLogs, StorageTestCase):
    """A volume group of its own on the first machine."""

    def make_group(self) -> LvmTools:
        """LVM there, with an empty group."""
        self.machine = the_lab().machine(1)
        self.addCleanup(self.machine.ended, REMOVE)
        self.machine.ended(REMOVE)
        self.machine.run(MAKE)
        return LvmTools(runner_on(1))

    def reported(self, columns: str, name: str) -> list[str]:
        """What LVM itself tells of a volume."""
        return self.machine.run(f"lvs --noheadings -o {columns} {GROUP}/{name}").split()


def volume(number: int, size: int = 8, **params: Any) -> DiskSpec:
    """A disk of an instance."""
    return DiskSpec(
        uuid=f"d{number}",
        dev_type="plain",
        size=size,
        logical_id=[GROUP, f"uuid.disk{number}"],
        params=params,
    )


def path(disk: DiskSpec) -> str:
    """Its device."""
    return "/dev/" + "/".join(disk.logical_id or [])


class LogicalVolumesTests(Chosen, OneDeviceContract, SnapshotContract, OwnerMarkContract, ExistingContract, OnVolumes):
    """The contracts of disks."""

    always = frozenset({"test_snapshot", "test_existing", "test_grow", "test_rename", "test_owner", "test_absent"})
    template = "plain"

    def storage(self) -> LogicalVolumes:
        """See `OneDeviceContract`."""
        return LogicalVolumes("plain", self.make_group())

    trees = OneDeviceContract.trees

    def logical_id(self, number: int) -> list[Any]:
        """See `OneDeviceContract`."""
        return [GROUP, f"uuid.disk{number}"]

    def content(self, disk: DiskSpec) -> str:
        """See `SnapshotContract`."""
        return self.machine.run(f"head -c 16 {path(disk)} | tr -d '\\0'").strip()

    def fill(self, disk: DiskSpec, content: str) -> None:
        """See `SnapshotContract`."""
        self.machine.run(f"printf '%-16s' {content} | dd of={path(disk)} conv=notrunc,fsync status=none")

    def mark(self, disk: DiskSpec) -> str:
        """See `OwnerMarkContract`."""
        return self.machine.run(f"lvs --noheadings -o lv_tags {'/'.join(disk.logical_id or [])}").strip()

    def place(self) -> str:
        """See `ExistingContract`."""
        return GROUP


class VolumeGroupsTests(PoolsContract, OnVolumes):
    """The contract of pools."""

    def pools(self) -> VolumeGroups:
        """See `PoolsContract`."""
        return VolumeGroups(self.make_group())

    def pool(self) -> str:
        """See `PoolsContract`."""
        return GROUP


class PlainOnlyTests(OnVolumes):
    """What other disks do not have."""

    def setUp(self) -> None:
        self.tools = self.make_group()
        self.store = LogicalVolumes("plain", self.tools)

    def lies_on(self, name: str) -> set[str]:
        """The physical volumes of a volume."""
        (words,) = [self.machine.run(f"lvs --noheadings -o devices {GROUP}/{name}").split()]
        return {device.split("(")[0] for word in words for device in word.split(",")}

    def test_placement(self) -> None:
        """Each new disk lies on as few physical volumes as will do, the emptiest; a closed one gets nothing."""
        self.get(PhysicalVolumes(self.tools).set_allocatable(DEVICES[0], False))
        for number, size, devices in ((0, 100, 1), (1, 100, 1), (2, 40, 2)):
            self.get(self.store.create(volume(number, size)))
            lies = self.lies_on(f"uuid.disk{number}")
            self.assertEqual(len(lies), devices, number)
            self.assertNotIn(DEVICES[0], lies)
        self.assertIn("cannot make logical volume", self.refused(self.store.create(volume(3, 100))))

    def test_stripes(self) -> None:
        """A striped disk is spread, and grows striped."""
        self.get(self.store.create(volume(0, 20, stripes=2)))
        self.assertEqual(self.reported("stripes,lv_size", "uuid.disk0"), ["2", "20.00m"])
        self.get(self.store.grow(volume(0, 20, stripes=2), 20))
        self.assertEqual(self.reported("stripes,lv_size", "uuid.disk0"), ["2", "40.00m"])
        self.get(self.store.create(volume(1, 20, stripes=2, **{"stripe-size": 128})))
        self.assertEqual(self.reported("stripes,stripe_size", "uuid.disk1"), ["2", "128.00k"])

    def test_exclusive(self) -> None:
        """Disks that share their physical volumes with none: as few as will do, or as many as asked for; they grow so, too."""
        groups = VolumeGroups(self.tools)
        self.get(self.store.create(volume(0, 100)))
        self.get(self.store.create(replace(volume(1, 100), exclusive=True)))
        self.assertEqual(len(self.lies_on("uuid.disk0") | self.lies_on("uuid.disk1")), 2)
        self.assertIn("1 are, with 124 MiB", self.refused(self.store.create(replace(volume(2, 200), exclusive=True))))
        two = replace(volume(2, 8), exclusive=True, spindles=2)
        self.assertIn("cannot have 2 physical volumes", self.refused(self.store.create(two)))
        space = self.get(groups.space(GROUP, {"exclusive_storage": True}))
        self.assertEqual((space.size, space.free), (373, 124))
        alone = replace(volume(1, 100), exclusive=True)
        self.get(self.store.grow(alone, 100))
        self.assertEqual(self.get(self.store.spindles(alone)), 2)
        self.assertEqual(self.lies_on("uuid.disk0") & self.lies_on("uuid.disk1"), set())
        self.get(self.store.snapshot(alone, "snap", 8))
        self.assertEqual(self.lies_on("uuid.disk0") & self.lies_on("uuid.disk1.snap"), set())
        self.assertIn("insufficient", self.refused(self.store.grow(volume(0), 200)).lower())

    def test_in_use(self) -> None:
        """What something has open is neither taken down nor removed, and told to be in use."""
        disk = volume(0)
        self.get(self.store.create(disk))
        self.addCleanup(self.machine.ended, "kill $(cat /run/plain.pid)")
        self.machine.run(f"sleep 1000 < {path(disk)} > /dev/null 2>&1 & echo $! > /run/plain.pid")
        self.assertIn("in use", self.refused(self.store.shutdown(disk)))
        self.assertIn("in use", self.refused(self.store.remove(disk)))
        (found,) = self.get(self.store.existing(GROUP))
        self.assertTrue(found.in_use)

    def test_grown_in_use(self) -> None:
        """A disk grows while it is written to, and nothing that is written is lost."""
        disk = volume(0)
        self.get(self.store.create(disk))
        self.machine.run(
            f"""python3 -c '
import os, time
disk = os.open("{path(disk)}", os.O_RDWR)
for number in range(8 << 10):
    os.pwrite(disk, b"%8d" % number * 128, number << 10)
    os.fsync(disk) if number % 512 == 0 else None
open("/run/plain.done", "w")
' > /run/plain.log 2>&1 & true"""
        )
        self.get(self.store.grow(disk, 8))
        self.machine.run("while ! [ -e /run/plain.done ]; do sleep 0.2; done")
        self.assertEqual(self.get(self.store.find(disk)).size, 16)  # type: ignore[union-attr]
        wrong = self.machine.run(
            f"""python3 -c '
disk = open("{path(disk)}", "rb")
print(sum(disk.read(1024) != b"%8d" % number * 128 for number in range(8 << 10)))'"""
        )
        self.assertEqual(wrong.strip(), "0")

    def test_snapshot_in_use(self) -> None:
        """A snapshot has what was written before one moment, and nothing that was written after it; the disk has all."""
        disk = volume(0)
        self.get(self.store.create(disk))
        self.machine.run(f"dd if=/dev/zero of={path(disk)} bs=1M count=8 oflag=direct status=none")
        self.machine.run(WRITER.format(path=path(disk)))
        made = replace(disk, logical_id=self.get(self.store.snapshot(disk, "snap", 16)))
        self.machine.run("while ! [ -e /run/plain.done ]; do sleep 0.2; done")
        whole, kept = (int(self.machine.run(READER.format(path=path(each)))) for each in (disk, made))
        self.assertEqual(whole, 4096)
        self.assertLess(kept, whole)
        self.get(self.store.remove(made))
        self.assertEqual(int(self.machine.run(READER.format(path=path(disk)))), whole)

    def test_streams(self) -> None:
        """The bytes of one disk are another's when they were copied."""
        for number, size in ((0, 4), (1, 8)):
            self.get(self.store.create(volume(number, size)))
        source, target = (self.get(self.store.assemble(volume(number))) for number in (0, 1))
        self.machine.run(f"head -c 4M /dev/urandom > {source.dev_path}")
        copied = [read_command(self.store, volume(0), source), write_command(self.store, volume(1), target)]
        self.machine.run(" | ".join(" ".join(words) for words in copied))
        self.machine.run(f"cmp -n {4 << 20} {source.dev_path} {target.dev_path}")

    def test_grow_with_snapshot(self) -> None:
        """A disk of which there is a snapshot does not grow while it is active, and says why."""
        self.get(self.store.create(volume(0)))
        self.get(self.store.snapshot(volume(0), "snap", 4))
        self.assertIn("napshot", self.refused(self.store.grow(volume(0), 8)))
        self.get(self.store.remove(volume(0)))
        self.assertEqual(self.get(self.store.existing(GROUP)), [])

    def test_lost(self) -> None:
        """A disk on a device that is lost is faulty; the group does without the device once nothing lies there."""
        for number in (0, 1):
            self.get(self.store.create(volume(number, 100)))
        (lost,) = self.lies_on("uuid.disk1")
        self.get(self.store.shutdown(volume(1)))
        self.machine.run(f"{DMSETUP} remove {lost}")
        groups = VolumeGroups(self.tools)
        self.assertIn("lacks physical volumes", str(self.get(groups.fault(GROUP))))
        statuses = [self.get(self.store.find(volume(number))) for number in (0, 1)]
        self.assertEqual(
            [each and each.ldisk_status for each in statuses], [LocalDiskStatus.OK, LocalDiskStatus.FAULTY]
        )
        self.assertIn("parts of uuid.disk1 lay there", self.refused(groups.fix_consistency(GROUP)))
        self.get(self.store.remove(volume(1)))
        self.get(groups.fix_consistency(GROUP))
        self.assertIsNone(self.get(groups.fault(GROUP)))
        self.assertIsNotNone(self.get(self.store.find(volume(0))))

    def test_pieces(self) -> None:
        """Volumes are told with what they lie upon."""
        self.get(self.store.create(volume(0, 200)))
        found = [each for each in self.get(VolumeGroups(self.tools).pieces()) if each.group == GROUP]
        self.assertEqual([(each.name, each.size) for each in found], [("uuid.disk0", 200)] * 2)
        self.assertEqual(len({each.physical for each in found}), 2)

    def test_other_group(self) -> None:
        """A group that is not there is told by all that need it."""
        lost = replace(volume(0), logical_id=["lostvg", "x"])
        self.assertIsNone(self.get(self.store.find(lost)))
        for awaitable in (self.store.create(lost), self.store.remove(lost), self.store.existing("lostvg")):
            self.assertIn("lostvg", self.refused(awaitable))
