"""Node calls about disks: what is made ready, under which stable name, and what is left when something fails."""

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import BlockDeviceError, FileStoragePathError
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.rpc.calls.disk import (
    AssembledDisk,
    BlockdevAssemble,
    BlockdevCreate,
    BlockdevFind,
    BlockdevGrow,
    BlockdevRemove,
    BlockdevRename,
    BlockdevShutdown,
    BlockdevStates,
)
from ganeti_tx.rpc.calls.mirror import BlockdevOpen
from ganeti_tx.test.node.disk_case import LINK, OWNER, DiskCase


class DiskTests(DiskCase):
    """A disk by itself."""

    def spec(self, *disks: DiskSpec) -> InstanceSpec:
        """An instance with these disks."""
        return InstanceSpec(
            name=OWNER, uuid="i", primary_node="n", hypervisor="kvm", os="", hvparams={}, beparams={}, disks=[*disks]
        )

    def test_life(self) -> None:
        """Made, ready under its name, larger, down, gone."""
        disk = self.file()
        self.create(0, disk)
        ready = self.assemble(0, disk)
        self.assertEqual((ready.path, ready.link), (f"/srv/{OWNER}/disk0", f"{self.paths.instance_disks_dir}/{LINK}"))
        self.assertEqual(self.links(), {LINK: ready.path})
        self.call(0, BlockdevGrow(disk=disk, amount=4))
        self.call(0, BlockdevGrow(disk=disk, amount=4, backing_store=False))
        self.assertEqual(self.call(0, BlockdevFind(disk=disk)).size, 12)
        self.call(0, BlockdevShutdown(disk=disk, owner=OWNER))
        self.assertEqual(self.links(), {})
        self.call(0, BlockdevRemove(disk=disk, owner=OWNER))
        self.assertIsNone(self.call(0, BlockdevFind(disk=disk)))

    def test_twice(self) -> None:
        """Making ready, taking down and removing can be done again."""
        disk = self.file()
        self.create(0, disk)
        for call in (
            BlockdevAssemble(disk=disk, owner=OWNER, hypervisor="kvm"),
            BlockdevShutdown(disk=disk, owner=OWNER),
            BlockdevRemove(disk=disk, owner=OWNER),
        ):
            for _ in range(2):
                self.call(0, call)

    def test_removed_with_its_name(self) -> None:
        """A disk that is removed while it is ready leaves no name."""
        self.create(0, self.file())
        self.assemble(0, self.file())
        self.call(0, BlockdevRemove(disk=self.file(), owner=OWNER))
        self.assertEqual(self.links(), {})

    def test_renamed(self) -> None:
        """The stable name leads to where the disk went, if it led to the disk."""
        disk, target = self.file(), ["loop", f"/srv/{OWNER}/moved"]
        self.create(0, disk)
        self.assemble(0, disk)
        self.call(0, BlockdevRename(disk=disk, owner=OWNER, logical_id=target))
        self.assertEqual(self.links(), {LINK: target[1]})
        self.create(0, self.file(1))
        self.call(0, BlockdevRename(disk=self.file(1), owner=OWNER, logical_id=["loop", "/srv/other"]))
        self.assertEqual(self.links(), {LINK: target[1]})

    def test_in_use(self) -> None:
        """What an instance has open keeps its name."""
        self.create(0, self.file())
        path = self.assemble(0, self.file()).path
        self.homes[0].devices.open(path, "machine")
        for call in (BlockdevShutdown(disk=self.file(), owner=OWNER), BlockdevRemove(disk=self.file(), owner=OWNER)):
            self.assertIn("machine", self.refused(0, call))
            self.assertEqual(self.links(), {LINK: path})

    def test_detached(self) -> None:
        """A disk that no instance has gets no name."""
        disk = replace(self.file(), index=-1)
        self.create(0, disk)
        self.assertIsNone(self.assemble(0, disk).link)
        self.assertEqual(self.links(), {})

    def test_uri(self) -> None:
        """A disk that the hypervisor opens itself comes with what it opens."""
        volume = DiskSpec(uuid="v", dev_type="plain", size=8, logical_id=["xenvg", "v"], params={"access": "userspace"})
        self.create(0, volume)
        self.assertEqual(self.assemble(0, volume).uri, "fake:xenvg/v")
        (attached,) = self.successResultOf(Deferred.fromCoroutine(self.disks[0].attach(self.spec(volume))))
        self.assertEqual((attached.path, attached.uri), ("/dev/xenvg/v", "fake:xenvg/v"))

    def test_uri_only(self) -> None:
        """A disk that has nothing but that has no stable name."""
        volume = DiskSpec(
            uuid="v", dev_type="plain", size=8, logical_id=["xenvg", "v"], index=0, params={"access": "userspace"}
        )
        self.homes[0].volumes.hidden = True
        self.create(0, volume)
        self.assertEqual(self.assemble(0, volume), AssembledDisk("", None, "fake:xenvg/v"))
        self.call(0, BlockdevOpen(instance_name=OWNER, disks=[volume]))
        self.assertEqual(self.links(), {})

    def test_attached(self) -> None:
        """An instance's disks are ready and named before it starts."""
        for number in (0, 1):
            self.create(0, self.file(number))
        spec = self.spec(self.file(0), self.file(1))
        attached = self.successResultOf(Deferred.fromCoroutine(self.disks[0].attach(spec)))
        self.assertEqual(self.links(), {f"{OWNER}:{disk.spec.index}": disk.path for disk in attached})

    def fail_attaching(self, error: type[Exception]) -> None:
        """The second of two disks is not there, or may not be."""
        attaching = self.disks[0].attach(self.spec(self.file(0), self.file(1)))
        self.failureResultOf(Deferred.fromCoroutine(attaching), error)

    def test_attached_in_part(self) -> None:
        """When a disk is missing the others are not ready either, and nothing is named."""
        self.create(0, self.file(0))
        self.fail_attaching(BlockDeviceError)
        self.assertEqual((self.links(), self.homes[0].devices.behind), ({}, {}))

    def test_path_is_not_allowed(self) -> None:
        """Nor when a disk lies where none may."""

        def fault(operation: str, disk: DiskSpec) -> FileStoragePathError | None:
            return FileStoragePathError("not allowed") if disk.index == 1 else None

        self.create(0, self.file(0))
        self.homes[0].files.fault = fault
        self.fail_attaching(FileStoragePathError)
        self.assertEqual((self.links(), self.homes[0].devices.behind), ({}, {}))

    def test_attached_again(self) -> None:
        """A failure while the instance runs leaves what was ready before, with its name."""
        for number in (0, 1):
            self.create(0, self.file(number))
            self.assemble(0, self.file(number))
        before = self.links()
        self.call(0, BlockdevRemove(disk=self.file(1), owner="another"))
        self.fail_attaching(BlockDeviceError)
        self.assertEqual(self.links(), before)
        self.assertEqual([*self.homes[0].devices.behind], [before[LINK]])

    def test_states(self) -> None:
        """Whatever is wrong with one disk, its own state alone tells of it."""
        for error in (BlockDeviceError("cut off"), OSError(5, "Input/output error"), ValueError("a fault of ours")):
            with self.subTest(error):
                self.check_states(error)
        self.assertEqual(len(self.flushLoggedErrors(OSError, ValueError)), 2)

    def check_states(self, error: Exception) -> None:
        """One disk of two cannot be looked at."""
        good, bad = self.file(0), self.file(1)
        self.homes[0].files.fault = None
        for disk in (good, bad):
            self.call(0, BlockdevRemove(disk=disk, owner=OWNER))
            self.create(0, disk)
        self.homes[0].files.fault = lambda operation, disk: error if disk.index == bad.index else None
        found = self.call(0, BlockdevStates(disks=[bad, good]))
        self.assertIn(str(error), found[0].fault)
        self.assertEqual(found[1].status.size, good.size)

    def test_unknown_template(self) -> None:
        """A template that this node has no driver for is told with those that it has."""
        disk = replace(self.file(), dev_type="rbd")
        text = self.refused(0, BlockdevCreate(disk=disk, owner=OWNER))
        self.assertEqual(text, "disk template 'rbd' is not available on this node; available: drbd, file, plain")
