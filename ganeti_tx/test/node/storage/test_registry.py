"""Tests of the templates a node has and of `diskless`."""

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.interfaces import IStorage
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
