"""Tests of block devices that are there already, with loop devices."""

import os
from pathlib import Path

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.abilities import IExisting
from ganeti_tx.node.storage.blockdev.driver import BlockDevices
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.storage import AdoptedContract
from ganeti_tx.test.fakes.loop_devices import attach, detach


class BlockDeviceTests(AdoptedContract):
    """A directory like /dev/disk with one device."""

    template = "blockdev"

    def storage(self) -> BlockDevices:
        """See `AdoptedContract`."""
        self.directory = Path(os.path.realpath(self.mktemp())) / "disk"
        (self.directory / "by-id").mkdir(parents=True)
        self.device = attach(self.directory.parent / "file", 8)
        self.addCleanup(detach, self.device)
        self.path = self.directory / "by-id/lun0"
        self.path.symlink_to(self.device)
        return BlockDevices(self.template, self.directory, InlineThreads())

    def at(self, path: object) -> DiskSpec:
        """A disk somewhere."""
        return DiskSpec(uuid="d", dev_type=self.template, size=8, logical_id=["manual", str(path)])

    def adopted(self) -> DiskSpec:
        """See `AdoptedContract`."""
        return self.at(self.path)

    def absent(self) -> DiskSpec:
        """See `AdoptedContract`."""
        return self.at(self.directory / "by-id/lun1")

    def test_existing(self) -> None:
        """What leads to block devices is listed, with its size; files and what leads nowhere are not."""
        (self.directory / "by-id/gone").symlink_to("/nowhere")
        (self.directory / "by-id/file").write_bytes(b"x")
        (self.directory / "by-id/pipe").symlink_to("/dev/null")
        found = self.get(IExisting(self.store).existing(str(self.directory)))
        self.assertEqual(
            [(each.logical_id, each.size, each.in_use) for each in found], [(["manual", str(self.path)], 8, False)]
        )

    def test_names(self) -> None:
        """Two names of one device are told to be the same."""
        (self.directory / "by-path").mkdir()
        (self.directory / "by-path/lun0").symlink_to(self.device)
        found = self.get(IExisting(self.store).existing(str(self.directory)))
        self.assertEqual((len(found), len({each.device for each in found})), (2, 1))

    def test_used(self) -> None:
        """A device that something has for itself is told so."""
        held = os.open(self.device, os.O_RDONLY | os.O_EXCL)
        self.addCleanup(os.close, held)
        (found,) = self.get(IExisting(self.store).existing(str(self.directory)))
        self.assertTrue(found.in_use)

    def test_number(self) -> None:
        """What is found has the device's number, under the name that was adopted."""
        found = self.get(self.tree.found(self.adopted()))
        seen = os.stat(self.device).st_rdev
        self.assertEqual((found.dev_path, found.major, found.minor), (str(self.path), os.major(seen), os.minor(seen)))

    def test_outside(self) -> None:
        """No path outside of the directory is touched, whatever is asked."""
        for path in (self.device, self.directory / "../file", self.directory, "/etc/passwd", "lun0"):
            disk = self.at(path)
            for awaitable in (self.store.find(disk), self.store.create(disk), self.store.remove(disk)):
                self.assertIn(f"is not below {self.directory}", self.refused(awaitable))
        self.assertIn("'/etc'", self.refused(IExisting(self.store).existing("/etc")))

    def test_no_device(self) -> None:
        """A file in the place of a device is refused."""
        path = self.directory / "file"
        path.write_bytes(bytes(1 << 20))
        self.assertIn("not a block device", self.refused(self.store.find(self.at(path))))
        self.assertIn("neither", self.refused(self.store.find(self.at(self.directory / "by-id"))))
