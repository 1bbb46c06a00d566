"""Tests of logical volumes with LVM's own answers; what LVM does with the commands is tested on a machine that has it."""

from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from zope.interface.verify import verifyObject

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.node.storage.abilities import IExisting, IOwnerMark, ISnapshot
from ganeti_tx.node.storage.interfaces import IPools, IStorage
from ganeti_tx.node.storage.lvm.driver import LogicalVolumes
from ganeti_tx.node.storage.lvm.pools import VolumeGroups
from ganeti_tx.node.storage.lvm.tools import LvmTools
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.contracts.storage import StorageTestCase
from ganeti_tx.test.fakes.process import Call, FakeProcessRunner
from ganeti_tx.test.node.storage.lvm.captured import captured


def disk(name: str = "u1.disk0", size: int = 8, **params: Any) -> DiskSpec:
    """One of the captured volumes."""
    return DiskSpec(uuid="d", dev_type="plain", size=size, logical_id=["xenvg", name], params=params)


class LogicalVolumesTests(StorageTestCase):
    """Which commands are run."""

    def setUp(self) -> None:
        self.runner = FakeProcessRunner()
        self.report("lvs", "volumes.json")
        self.report("pvs", "physical.json")
        self.report("vgs", "groups.json")
        self.store = LogicalVolumes("plain", LvmTools(self.runner))

    def report(self, program: str, name: str, status: int = 0, stderr: bytes = b"") -> None:
        """What a program of reports prints."""
        self.runner.script([program], ProcessResult(status=status, stdout=captured(name), stderr=stderr))

    def one(self, name: str) -> None:
        """That lvs tells of this volume only."""

        def answer(call: Call) -> ProcessResult:
            lines = captured("volumes.json").splitlines(keepends=True)
            kept = [line.rstrip(b",\n") + b"\n" for line in lines if f'"lv_name":"{name}"'.encode() in line]
            return ProcessResult(stdout=b"".join([*lines[:4], *kept, *lines[-4:]]))

        self.runner.script(["lvs"], answer)

    def changes(self, *programs: str) -> list[str]:
        """The commands that changed something."""
        for program in programs:
            self.runner.script([program], ProcessResult())
        return [" ".join(argv) for argv in self.runner.commands if argv[0] not in ("lvs", "pvs", "vgs")]

    def test_interfaces(self) -> None:
        """They provide what they can."""
        for interface in (IStorage, ISnapshot, IOwnerMark, IExisting):
            self.assertTrue(verifyObject(interface, self.store))
        self.assertTrue(verifyObject(IPools, VolumeGroups(LvmTools(self.runner))))

    def test_create(self) -> None:
        """A volume is made upon the emptiest physical volumes of its group."""
        self.changes("lvcreate")
        self.get(self.store.create(disk("new", 600)))
        self.assertEqual(
            self.changes(),
            ["lvcreate --yes --wipesignatures y --size 600m --name new xenvg /dev/loop3 /dev/loop2"],
        )

    def test_stripes(self) -> None:
        """With stripes it is spread; no further than there are physical volumes with room."""
        self.changes("lvcreate")
        for stripes in (2, 8):
            self.get(self.store.create(disk("new", 64, stripes=stripes)))
        self.assertEqual(
            self.changes(),
            ["lvcreate --yes --wipesignatures y --size 64m --stripes 2 --name new xenvg /dev/loop3 /dev/loop2"] * 2,
        )

    def test_exclusive(self) -> None:
        """With exclusive storage a disk has physical volumes for itself, and grows on these and on empty ones."""
        self.changes("lvcreate", "lvextend")
        self.get(self.store.create(replace(disk("new", 64), logical_id=["bigvg", "new"], exclusive=True)))
        self.assertIn("0 are, with 0 MiB", self.refused(self.store.create(replace(disk("new", 64), exclusive=True))))

        def segments(call: Call) -> ProcessResult:
            name = "segments.json" if any("devices" in word for word in call.argv) else "volumes.json"
            return ProcessResult(stdout=captured(name))

        self.runner.script(["lvs"], segments)
        self.get(self.store.grow(replace(disk("u1.disk0"), exclusive=True), 8))
        made, grown = self.changes()
        self.assertTrue(made.endswith("--name new bigvg /dev/vdb"), made)
        self.assertEqual(grown, "lvextend --size +8m xenvg/u1.disk0 /dev/loop1 /dev/loop2 /dev/loop3")
        pools = VolumeGroups(LvmTools(self.runner))
        space = self.get(pools.space("bigvg", {"exclusive_storage": True}))
        self.assertEqual((space.size, space.free), (4010, 4010))
        self.assertEqual(self.get(pools.space("xenvg", {"exclusive_storage": True})).free, 0)

    def test_one_after_the_other(self) -> None:
        """Nobody looks for room in a group while another volume is made there; one that fails does not stand in the way."""
        pending: list[Deferred[ProcessResult]] = []

        def begin(call: Call) -> "Deferred[ProcessResult]":
            pending.append(Deferred())
            return pending[-1]

        for program in ("lvcreate", "lvextend"):
            self.runner.script([program], begin)
        first, second, other = (
            Deferred.fromCoroutine(
                self.store.create(replace(disk(name, 64), logical_id=[group, name], exclusive=exclusive))
            )
            for name, group, exclusive in (("one", "xenvg", False), ("two", "xenvg", False), ("three", "bigvg", True))
        )
        grown = Deferred.fromCoroutine(self.store.grow(disk("u1.disk0"), 8))
        programs = [argv[0] for argv in self.runner.commands if argv[0] != "lvs"]
        self.assertEqual(programs, ["pvs", "lvcreate", "pvs", "lvcreate"])
        pending[0].callback(ProcessResult(status=5))
        self.failureResultOf(first, BlockDeviceError)
        self.assertEqual([argv[0] for argv in self.runner.commands if argv[0] != "lvs"][4:], ["pvs", "lvcreate"])
        for each in (1, 2, 3):
            pending[each].callback(ProcessResult())
        for made in (second, other, grown):
            self.successResultOf(made)

    def test_beside(self) -> None:
        """A disk lies where others of its instance do, if it fits there; those that are not made yet do not matter."""
        self.changes("lvcreate")
        self.runner.script(["lvs"], ProcessResult(stdout=captured("segments.json")))
        beside = [["xenvg", "u1.disk0"], ["xenvg", "not-yet"]]
        for size in (64, 200):
            self.get(self.store.create(replace(disk("new", size), beside=beside)))
        self.assertEqual([line.partition(" xenvg ")[2] for line in self.changes()], ["/dev/loop2", "/dev/loop3"])

    def test_refused(self) -> None:
        """What LVM says is told with the volume's name."""
        fault = b'  Volume group "xenvg" has insufficient free space (871 extents): 25600 required.\n'
        self.runner.script(["lvcreate"], ProcessResult(status=5, stderr=fault))
        text = self.refused(self.store.create(disk("new", 9999)))
        self.assertEqual(
            text,
            "cannot make logical volume xenvg/new with 9999 MiB: lvcreate exited with status 5:"
            ' Volume group "xenvg" has insufficient free space (871 extents): 25600 required.',
        )

    def test_names(self) -> None:
        """Nothing that could be an option, another path or LVM's own gets to a command."""
        for name in ("-f", "a/b", "a b", "", "..", "x" * 128, 'x" || lv_name!="', "disk_tmeta", "pvmove0"):
            refused = replace(disk(), logical_id=["xenvg", name])
            self.refused(self.store.create(refused))
        self.refused(self.store.remove(replace(disk(), logical_id=["-xenvg", "x"])))
        self.assertEqual(self.runner.commands, [])

    def test_remove(self) -> None:
        """What is there is removed, what is not needs not be; without the group nobody knows."""
        self.changes("lvremove")
        self.one("u1.disk0")
        self.get(self.store.remove(disk()))
        self.report("lvs", "none.json")
        self.get(self.store.remove(disk()))
        self.assertEqual(self.changes(), ["lvremove --force xenvg/u1.disk0"])
        lost = replace(disk(), logical_id=["lostvg", "x"])
        self.assertIn("'lostvg' is not on this node; there are: bigvg, xenvg", self.refused(self.store.remove(lost)))

    def test_unknown(self) -> None:
        """A volume of which LVM cannot tell is neither there nor not there."""
        for result in (ProcessResult(status=5, stderr=b"  Cannot read metadata\n"), ProcessResult(timed_out=True)):
            self.runner.script(["lvs"], result)
            self.assertIn("lvs", self.refused(self.store.find(disk())))
            self.refused(self.store.remove(disk()))
        self.assertEqual(self.changes(), [])

    def test_found_with_complaints(self) -> None:
        """What LVM has to say of others hides no volume."""
        self.one("u1.disk0")
        found = self.get(self.store.find(disk()))
        assert found is not None
        self.assertEqual((found.dev_path, found.size, found.minor), ("/dev/xenvg/u1.disk0", 8, 0))

    def test_partial(self) -> None:
        """A volume of which a part is lost is faulty; one that is not active has no device numbers."""
        self.report("lvs", "volumes_partial.json")
        found = self.get(self.store.find(disk("striped")))
        assert found is not None
        self.assertEqual((found.ldisk_status, found.major), (LocalDiskStatus.FAULTY, None))

    def test_not_installed(self) -> None:
        """A node without LVM says so."""
        self.store = LogicalVolumes("plain", LvmTools(FakeProcessRunner()))
        self.assertIn("LVM is not installed", self.refused(self.store.find(disk())))

    def test_shutdown(self) -> None:
        """What is active is taken down, but for snapshots and what has some."""
        self.changes("lvchange")
        for name in ("u2.disk0", "u1.disk0", "u1.disk0.snap-1", "striped"):
            self.one(name)
            self.get(self.store.shutdown(disk(name)))
        self.assertEqual(self.changes(), ["lvchange --activate n xenvg/u2.disk0"])

    def test_owner(self) -> None:
        """The tag of a former owner goes; who owns it already is not told again."""
        self.changes("lvchange")
        self.one("u1.disk0")
        for owner in ("web1", "web2"):
            self.get(self.store.set_owner(disk(), owner))
        self.assertEqual(
            self.changes(), ["lvchange --deltag originstname+web1 --addtag originstname+web2 xenvg/u1.disk0"]
        )

    def test_grow_by_nothing(self) -> None:
        """No amount is no change, of a volume that is there."""
        self.one("u1.disk0")
        self.get(self.store.grow(disk(), 0))
        self.assertEqual(self.changes(), [])

    def test_other_group(self) -> None:
        """A volume does not get into another group by a name."""
        self.assertIn("bigvg", self.refused(self.store.rename(disk(), ["bigvg", "x"])))

    def test_existing(self) -> None:
        """All of a group; a group that is not there is an error."""
        found = self.get(self.store.existing("xenvg"))
        self.assertEqual([(each.logical_id[1], each.size) for each in found][:2], [("striped", 8), ("u1.disk0", 8)])
        self.assertIn("there are: bigvg, xenvg", self.refused(self.store.existing("other")))

    def test_pool(self) -> None:
        """A group's room; one that is not there is a fault."""
        pools = VolumeGroups(LvmTools(self.runner))
        space = self.get(pools.space("xenvg", {}))
        self.assertEqual((space.size, space.free), (1533, 609))
        self.assertIsNone(self.get(pools.fault("xenvg")))
        self.assertIn("'lostvg' is not on this node", str(self.get(pools.fault("lostvg"))))
