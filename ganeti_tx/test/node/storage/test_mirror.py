"""Mirrors upon volumes upon files, on two nodes: the contract of all disks, and that of mirrors."""

from msgspec.structs import replace
from twisted.internet.task import Clock

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.test.contracts.storage_mirror import MirrorContract
from ganeti_tx.test.fakes.mirror_node import MirrorNode, mirror_spec
from ganeti_tx.test.fakes.mirror_wire import MirrorWire

ADDRESSES = ("198.51.100.1", "198.51.100.2")


class FakeMirrorTests(MirrorContract):
    """The mirrors in memory."""

    renamable = False

    def trees(self) -> list[DeviceTree]:
        """See `StorageContract`."""
        self.clock = Clock()
        self.wire = MirrorWire(self.clock.seconds)
        self.homes = [MirrorNode(address, self.wire) for address in ADDRESSES]
        return [home.tree() for home in self.homes]

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`."""
        return mirror_spec(ADDRESSES, node, number, size)

    def names(self, disk: DiskSpec) -> str:
        """See `StorageContract`."""
        return disk.uuid

    def settle(self) -> None:
        """See `StorageContract`."""
        self.clock.advance(1000)

    def split(self) -> None:
        """See `MirrorContract`."""
        self.wire.split(*ADDRESSES)

    def mend(self) -> None:
        """See `MirrorContract`."""
        self.wire.mend(*ADDRESSES)

    def pass_some_time(self) -> None:
        """See `MirrorContract`."""
        self.clock.advance(0.5)

    def lose_power(self, node: int) -> None:
        """See `MirrorContract`."""
        self.homes[node].lose_power()

    def write(self, node: int, content: str) -> None:
        """See `MirrorContract`."""
        self.homes[node].mirrors.write(self.disk(node=node), content)

    def read(self, node: int) -> str:
        """See `MirrorContract`."""
        return self.homes[node].mirrors.read(self.disk(node=node))

    def test_three_levels(self) -> None:
        """Each level is made of the one below, on its own node, and the file at the bottom has the content."""
        self.in_sync()
        self.write(0, "letters")
        for home in self.homes:
            self.assertEqual(home.files.disks["loop//srv/d0_data"].content, "letters")
            self.assertEqual(home.volumes.disks["xenvg/d0_data"].under, "/srv/d0_data")
            self.assertEqual(home.devices.users["/dev/xenvg/d0_data"], {f"/dev/drbd{10 * self.homes.index(home)}"})

    def test_worst_part(self) -> None:
        """A disk is as well as the worst that it is made of, at any level."""
        self.in_sync()
        self.homes[0].files.disks["loop//srv/d0_meta"].health = LocalDiskStatus.UNKNOWN
        for status in (self.status(0), self.get(self.tree.assemble(self.disk(), True))):
            self.assertEqual(status.ldisk_status, LocalDiskStatus.UNKNOWN)
        self.assertEqual(self.status(1).ldisk_status, LocalDiskStatus.OK)

    def test_failed_creation(self) -> None:
        """When a level cannot be made those below it go again, and what was there before stays."""
        self.create(1)
        before = [sorted(each.disks) for each in (self.homes[0].files, self.homes[0].volumes)]
        self.homes[0].volumes.total = 0
        larger = replace(self.disk(), size=16)  # than its volumes
        self.assertIn("does not fit", self.refused(self.tree.create(larger, "web1")))
        self.assertEqual([sorted(each.disks) for each in (self.homes[0].files, self.homes[0].volumes)], before)
        self.assertEqual(self.homes[0].devices.behind, {})

    def test_on_children(self) -> None:
        """A mirror can be made of volumes that are there."""
        for node, tree in enumerate(self.nodes):
            for child in self.disk(node=node).children:
                self.get(tree.create(child, "web1"))
            self.get(tree.create(self.disk(node=node), "web1", on_children=True))
        self.assemble()
        self.settle()
        self.assertEqual(self.degraded(), [False, False])

    def test_failed_assembly(self) -> None:
        """When a mirror cannot be assembled only those below it are ready that were so before."""
        self.create()
        data, _ = self.disk().children
        self.get(self.tree.assemble(data, True))
        self.refused(self.tree.assemble(self.disk(), True))  # nobody has data yet
        self.assertEqual(self.children_ready(0), [True, False, True, False])

    def test_in_use(self) -> None:
        """What an instance has open is neither taken down nor removed, at any level."""
        self.in_sync()
        path = self.status(0).dev_path
        self.homes[0].devices.open(path, "web1")
        for awaitable in (self.tree.shutdown(self.disk()), self.tree.remove(self.disk())):
            self.assertIn("web1", self.refused(awaitable))
        self.assertEqual(self.degraded(), [False, False])
        self.homes[0].devices.close(path, "web1")
        self.get(self.tree.remove(self.disk()))

    def test_removal_goes_on(self) -> None:
        """A part that cannot be removed keeps no other, and is told; the next try has it."""
        self.create()
        self.homes[0].devices.users["/srv/d0_meta"] = {"somebody"}
        self.assertIn("somebody", self.refused(self.tree.remove(self.disk())))
        self.assertEqual(sorted(self.homes[0].files.disks), ["loop//srv/d0_meta"])
        self.homes[0].devices.users.clear()
        self.get(self.tree.remove(self.disk()))
        self.assertEqual(self.homes[0].files.disks, {})

    def test_marked(self) -> None:
        """Every level that can be is marked as the instance's."""
        self.create()
        owners = [disk.owner for disk in self.homes[0].volumes.disks.values()]
        self.assertEqual(owners, ["originstname+web1"] * 2)

    def test_snapshot_of_data(self) -> None:
        """A snapshot of a mirror is one of its data volume."""
        self.in_sync()
        self.write(0, "letters")
        made = self.get(self.tree.snapshot(self.disk(), "snap", 8))
        self.assertEqual(made, ["xenvg", "d0_data.snap"])
        self.assertEqual(self.homes[0].volumes.disks["xenvg/d0_data.snap"].content, "letters")
