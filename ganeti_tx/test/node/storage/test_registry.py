"""Tests of the templates a node has and of `diskless`."""

from collections.abc import Callable
from pathlib import Path

from attrs import field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_templates import AVAILABLE, TEMPLATES
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node import storage
from ganeti_tx.node.storage.diskless.driver import Diskless
from ganeti_tx.node.storage.holders import DiskHolders
from ganeti_tx.node.storage.interfaces import IPools, IStorage
from ganeti_tx.node.storage.kinds import StorageKind, together
from ganeti_tx.node.storage.registry import load_storage, registrations
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.script_log import OpenLog, open_log
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner


@frozen
class SomeParts:
    """What drivers are made from."""

    paths: Paths = field(factory=Paths)
    files: MemoryFiles = field(factory=MemoryFiles)
    threads: InlineThreads = field(factory=InlineThreads)
    clock: Clock = field(factory=Clock)
    now: Callable[[], float] = lambda: 0.0
    open_log: OpenLog = open_log
    holders: DiskHolders = field(factory=DiskHolders)
    runner: FakeProcessRunner = field(factory=lambda: FakeProcessRunner(Clock()))


class RegistryTests(SynchronousTestCase):
    """Templates by name."""

    def setUp(self) -> None:
        self.storage = load_storage(SomeParts())

    def test_templates(self) -> None:
        """Each template is under its own name and provides IStorage."""
        for name, each in self.storage.storages.items():
            self.assertEqual(each.template, name)
            self.assertTrue(verifyObject(IStorage, each))
        self.assertIs(self.storage.of("file"), self.storage.storages["file"])

    def test_folders(self) -> None:
        """Each folder of drivers is found, and nothing else: a new one needs to be named nowhere."""
        folders = [path.parent.name for path in Path(storage.__path__[0]).glob("*/driver.py")]
        self.assertEqual(len(list(registrations())), len(folders))
        self.assertEqual({template.driver for template in TEMPLATES.values()} - {None}, set(folders))

    def test_available(self) -> None:
        """What the cluster takes for available is what nodes have drivers for."""
        self.assertEqual(set(self.storage.storages), set(AVAILABLE))

    def test_pools(self) -> None:
        """Pools are those of storage types, whichever templates lie in them."""
        self.assertEqual(sorted(self.storage.pools), ["file", "gluster", "lvm-pv", "lvm-vg", "rados", "sharedfile"])
        self.assertLessEqual(set(self.storage.pools), {each.value for each in StorageType})
        for pools in self.storage.pools.values():
            self.assertTrue(verifyObject(IPools, pools))

    def test_twice(self) -> None:
        """Two folders with the same template are a mistake that is told."""
        kind = StorageKind([Diskless()])
        self.assertIn("diskless", str(self.assertRaises(ValueError, together, [kind, kind])))

    def test_unknown(self) -> None:
        """A template that is not there is refused, naming those that are."""
        error = self.assertRaises(BlockDeviceError, self.storage.of, "tape")
        there = ", ".join(sorted(AVAILABLE))
        self.assertEqual(str(error), f"disk template 'tape' is not available on this node; available: {there}")

    def test_diskless(self) -> None:
        """Diskless has no disks, so every question about one is a mistake."""
        diskless = self.storage.of("diskless")
        disk = DiskSpec(uuid="d", dev_type="diskless", size=1, logical_id=None)
        for awaitable in (diskless.create(disk), diskless.find(disk), diskless.remove(disk), diskless.assemble(disk)):
            failed = self.failureResultOf(Deferred.fromCoroutine(awaitable), BlockDeviceError)
            self.assertIn("no disks", str(failed.value))
