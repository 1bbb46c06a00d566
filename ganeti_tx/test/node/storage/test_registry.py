"""Tests of the templates a node has, of `diskless`, and of the disks' stable names."""

import os
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.interfaces import IStorage
from ganeti_tx.node.storage.links import link_disk, unlink_disk
from ganeti_tx.node.storage.registry import load_storage, storage_of
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles


class RegistryTests(SynchronousTestCase):
    """Templates by name."""

    def setUp(self) -> None:
        self.storages = load_storage(MemoryFiles(), Paths(), InlineThreads())

    def test_templates(self) -> None:
        """Each template is under its own name and provides IStorage."""
        for name, storage in self.storages.items():
            self.assertEqual(storage.template, name)
            self.assertTrue(verifyObject(IStorage, storage))
        self.assertIs(storage_of(self.storages, "file"), self.storages["file"])

    def test_unknown(self) -> None:
        """A template that is not there is refused, naming those that are."""
        error = self.assertRaises(BlockDeviceError, storage_of, self.storages, "rbd")
        self.assertEqual(
            str(error), "disk template 'rbd' is not available on this node; available: diskless, file, sharedfile"
        )

    def test_diskless(self) -> None:
        """Diskless has no disks, so every question about one is a mistake."""
        storage = self.storages["diskless"]
        disk = DiskSpec(uuid="d", dev_type="diskless", size=1, logical_id=None)
        for awaitable in (storage.create(disk), storage.find(disk), storage.remove(disk), storage.assemble(disk)):
            failed = self.failureResultOf(Deferred.fromCoroutine(awaitable), BlockDeviceError)
            self.assertIn("no disks", str(failed.value))


class LinkTests(SynchronousTestCase):
    """RUN/instance-disks."""

    def setUp(self) -> None:
        self.paths = Paths(Path(os.path.abspath(self.mktemp())))

    def test_link(self) -> None:
        """A link leads to the disk asked for last; removing it twice is no error."""
        for target in ("/srv/a", "/srv/b"):
            link = link_disk(self.paths, "web1", 0, target)
            self.assertEqual(os.readlink(link), target)
        self.assertEqual(link, self.paths.instance_disks_dir / "web1:0")
        self.assertEqual(os.listdir(self.paths.instance_disks_dir), ["web1:0"])
        for _ in range(2):
            unlink_disk(self.paths, "web1", 0)
        self.assertEqual(os.listdir(self.paths.instance_disks_dir), [])

    def test_bad_name(self) -> None:
        """A name that would lead out of the directory is refused."""
        self.assertRaises(BlockDeviceError, link_disk, self.paths, "../x", 0, "/srv/a")
        self.assertRaises(BlockDeviceError, link_disk, self.paths, "web1", -1, "/srv/a")
