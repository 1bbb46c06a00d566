"""What every disk template keeps, real or fake."""

from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import msgspec
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.errors import BlockDeviceError, GanetiError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus, LocalDiskStatus
from ganeti_tx.node.storage.abilities import IExisting
from ganeti_tx.node.storage.interfaces import IPools, IStorage
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.test.fakes.storage import only

T = TypeVar("T")


class StorageTestCase(SynchronousTestCase):
    """Awaits what storages give."""

    def get(self, awaitable: Coroutine[Any, Any, T]) -> T:
        """What it gives at once."""
        return self.successResultOf(Deferred.fromCoroutine(awaitable))

    def refused(self, awaitable: Coroutine[Any, Any, object], kind: type[GanetiError] = BlockDeviceError) -> str:
        """The one line with which it fails."""
        text = str(self.failureResultOf(Deferred.fromCoroutine(awaitable), kind).value)
        self.assertNotIn("\n", text)
        return text


class StorageContract(StorageTestCase):
    """Mixed into a test case that makes the nodes that one disk lives on, and specs of disks for each.

    The first node is the primary one. All is done through the nodes' trees, as the node calls do it, so that disks made of
    others keep the same contract.
    """

    #: Whether disks can get another logical id.
    renamable = True
    #: Whether the node has a path for them; else only hypervisors can open them.
    has_path = True

    def trees(self) -> Sequence[DeviceTree]:
        """The nodes, with nothing on them; called once a test."""
        raise NotImplementedError

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """Disk `number` of one instance as the node must know it."""
        raise NotImplementedError

    def other_id(self) -> list[Any]:
        """A logical id that no disk of the test has."""
        logical_id = self.disk(7).logical_id
        assert logical_id is not None
        return logical_id

    def names(self, disk: DiskSpec) -> str:
        """What errors about a disk have in them."""
        return str(disk.logical_id and disk.logical_id[-1])

    def settle(self) -> None:
        """Let pass the time that the nodes need until their copies are alike."""

    def run(self, result: Any = None) -> Any:
        """Trial's own; a bare contract is no test."""
        if type(self).trees is StorageContract.trees:
            return result
        return super().run(result)

    def setUp(self) -> None:
        self.nodes = self.trees()
        self.tree = self.nodes[0]
        self.store: IStorage = self.tree.of(self.disk())

    def create(self, number: int = 0, size: int = 8) -> None:
        """Make a disk on all nodes."""
        for node, tree in enumerate(self.nodes):
            self.get(tree.create(self.disk(number, size, node), "web1"))

    def assemble(self, number: int = 0) -> BlockDevStatus:
        """Make a disk ready on all nodes, on the primary one last."""
        statuses = [
            self.get(tree.assemble(self.disk(number, node=node), node == 0))
            for node, tree in reversed(list(enumerate(self.nodes)))
        ]
        return statuses[-1]

    def remove(self, number: int = 0) -> None:
        """Remove a disk from all nodes."""
        for node, tree in enumerate(self.nodes):
            self.get(tree.remove(self.disk(number, node=node)))

    def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """What holds the data on all nodes first, then the device on the primary one."""
        for node, tree in enumerate(self.nodes):
            here = disk if node == 0 else self.disk(node=node)
            self.get(tree.grow(here, amount, dry_run, backing_store=True))
        self.get(self.tree.grow(disk, amount, dry_run, backing_store=False))

    def size(self, number: int = 0) -> int:
        """The present size on the primary node."""
        return self.get(self.tree.found(self.disk(number))).size

    def test_interface(self) -> None:
        """It provides IStorage."""
        self.assertTrue(verifyObject(IStorage, self.store))

    def test_created(self) -> None:
        """A created disk is found, with its size and an absolute path, and is well once it is ready everywhere."""
        self.create(size=8)
        found = self.get(self.tree.find(self.disk()))
        assert found is not None
        self.assertEqual((found.size, found.dev_path[:1]), (8, "/" if self.has_path else ""))
        self.assemble()
        self.settle()
        for node, tree in enumerate(self.nodes):
            status = self.get(tree.found(self.disk(node=node)))
            self.assertEqual((status.size, status.is_degraded, status.ldisk_status), (8, False, LocalDiskStatus.OK))
            self.assertIsNone(status.sync_percent)

    def test_absent(self) -> None:
        """A disk that was not created is None to find, and an error that names it to all that need it."""
        disk = self.disk()
        self.assertIsNone(self.get(self.tree.find(disk)))
        self.assertFalse(self.get(self.store.is_ready(disk)))
        self.assertIn(self.names(disk), self.refused(self.tree.assemble(disk, True)))
        self.assertIn(self.names(disk), self.refused(self.store.grow(disk, 1)))
        self.assertIn(self.names(disk), self.refused(self.tree.rename(disk, self.other_id())))
        self.assertIsNone(self.get(self.tree.find(self.disk(1))))

    def test_create_twice(self) -> None:
        """Creating a disk that exists fails and leaves it as it was."""
        self.create(size=8)
        self.refused(self.tree.create(self.disk(size=16), "web1"))
        self.assertEqual(self.size(), 8)

    def test_create_nothing(self) -> None:
        """A disk without room for anything is refused and not there."""
        for size in (0, -1):
            self.assertIn(str(size), self.refused(self.tree.create(self.disk(size=size), "web1")))
        self.assertIsNone(self.get(self.tree.find(self.disk())))

    def test_remove(self) -> None:
        """A removed disk is gone, ready or not, the others stay; removing it again succeeds."""
        for number in (0, 1):
            self.create(number)
            self.assemble(number)
        for _ in range(2):
            self.remove(0)
        self.assertIsNone(self.get(self.tree.find(self.disk(0))))
        self.assertIsNotNone(self.get(self.tree.find(self.disk(1))))

    def test_create_again(self) -> None:
        """The place of a removed disk is free."""
        for size in (8, 16):
            self.create(size=size)
            self.assertEqual(self.size(), size)
            self.remove()

    def test_grow(self) -> None:
        """Growing adds to the present size, whatever size the spec tells; a dry run adds nothing."""
        self.create(size=8)
        self.assemble()
        self.settle()
        self.grow(self.disk(size=99), 4)
        self.grow(self.disk(), 4, dry_run=True)
        self.assertEqual(self.size(), 12)

    def test_shrink(self) -> None:
        """A disk does not get smaller."""
        self.create(size=8)
        self.assemble()
        self.assertIn("-4", self.refused(self.store.grow(self.disk(), -4)))
        self.assertEqual(self.size(), 8)

    def test_rename(self) -> None:
        """After a rename the disk is under its new id only, as large as it was; or it is refused, and stays."""
        self.create(size=8)
        if not self.renamable:
            self.assertIn(self.names(self.disk()), self.refused(self.tree.rename(self.disk(), self.other_id())))
            self.assertEqual(self.size(), 8)
            return
        self.get(self.tree.rename(self.disk(), self.other_id()))
        renamed = msgspec.structs.replace(self.disk(), logical_id=self.other_id())
        self.assertEqual(self.get(self.tree.found(renamed)).size, 8)

    def test_rename_onto(self) -> None:
        """A logical id that is taken is refused, and both disks stay."""
        self.create(0, size=8)
        self.create(1, size=16)
        taken = self.disk(1).logical_id
        assert taken is not None
        self.refused(self.tree.rename(self.disk(0), taken))
        self.assertEqual([self.size(number) for number in (0, 1)], [8, 16])

    def test_assemble(self) -> None:
        """Assembling and shutting down can each be done twice, and keep the disk."""
        self.create(size=8)
        for _ in range(2):
            self.assertEqual(self.assemble().size, 8)
            self.assertTrue(self.get(self.store.is_ready(self.disk())))
        for _ in range(2):
            self.get(self.tree.shutdown(self.disk()))
        self.assertEqual(self.size(), 8)
        self.assemble()

    def test_no_logical_id(self) -> None:
        """A disk without a logical id is refused by everything."""
        disk = msgspec.structs.replace(self.disk(), logical_id=None)
        for awaitable in (self.store.create(disk), self.store.find(disk), self.store.remove(disk)):
            self.refused(awaitable, GanetiError)


class OneDeviceContract(StorageContract):
    """The same for a template whose disks are one device on one node, each known by its logical id."""

    template: str

    def storage(self) -> IStorage:
        """The storage under test, with nothing in it; called once a test."""
        raise NotImplementedError

    def logical_id(self, number: int) -> list[Any]:
        """The logical id of disk `number` of one instance."""
        raise NotImplementedError

    def run(self, result: Any = None) -> Any:
        """Trial's own; a bare contract is no test."""
        if type(self).storage is OneDeviceContract.storage:
            return result
        return super().run(result)

    def trees(self) -> Sequence[DeviceTree]:
        """See `StorageContract`."""
        return [only(self.storage())]

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`."""
        return DiskSpec(uuid=f"d{number}", dev_type=self.template, size=size, logical_id=self.logical_id(number))

    def test_old_name(self) -> None:
        """What was renamed is not under its former id any more."""
        self.create()
        if not self.renamable:
            return
        self.get(self.store.rename(self.disk(0), self.logical_id(1)))
        self.assertIsNone(self.get(self.store.find(self.disk(0))))
        self.assertIsNotNone(self.get(self.store.find(self.disk(1))))


class AdoptedContract(StorageTestCase):
    """Mixed into a test case of a template whose disks are always adopted: they are used, and otherwise left alone."""

    template: str

    def storage(self) -> IStorage:
        """The storage under test; called once a test."""
        raise NotImplementedError

    def adopted(self) -> DiskSpec:
        """A disk whose device is there, with 8 MiB."""
        raise NotImplementedError

    def absent(self) -> DiskSpec:
        """A disk whose device is not."""
        raise NotImplementedError

    def run(self, result: Any = None) -> Any:
        """Trial's own; a bare contract is no test."""
        if type(self).storage is AdoptedContract.storage:
            return result
        return super().run(result)

    def setUp(self) -> None:
        self.store = self.storage()
        self.tree = only(self.store)

    def test_interface(self) -> None:
        """It provides IStorage, and tells what can be adopted."""
        self.assertTrue(verifyObject(IStorage, self.store))
        self.assertTrue(verifyObject(IExisting, self.store))

    def test_kept(self) -> None:
        """It is found, and can be made ready; no operation changes it, and what would have to is refused."""
        disk = self.adopted()
        for _ in range(2):
            self.get(self.tree.create(disk, "web1"))
            self.assertEqual(self.get(self.tree.assemble(disk, True)).size, 8)
            self.assertTrue(self.get(self.store.is_ready(disk)))
            self.get(self.tree.shutdown(disk))
            self.get(self.tree.remove(disk))
            self.assertEqual(self.get(self.tree.found(disk)).size, 8)
        name = str((disk.logical_id or [""])[-1])
        self.assertIn(name, self.refused(self.tree.grow(disk, 1, False, True)))
        self.assertIn(name, self.refused(self.tree.rename(disk, self.absent().logical_id or [])))

    def test_absent(self) -> None:
        """What is not there is None to find, cannot be made, and needs not be removed."""
        disk = self.absent()
        self.assertIsNone(self.get(self.tree.find(disk)))
        self.assertFalse(self.get(self.store.is_ready(disk)))
        name = str((disk.logical_id or [""])[-1])
        self.assertIn(name, self.refused(self.tree.create(disk, "web1")))
        self.assertIn(name, self.refused(self.tree.assemble(disk, True)))
        self.get(self.tree.remove(disk))

    def test_too_small(self) -> None:
        """A device that is smaller than the disk is refused."""
        disk = msgspec.structs.replace(self.adopted(), size=9)
        self.assertIn("9", self.refused(self.tree.create(disk, "web1")))

    def test_no_logical_id(self) -> None:
        """A disk without a logical id is refused by everything."""
        disk = msgspec.structs.replace(self.adopted(), logical_id=None)
        for awaitable in (self.store.create(disk), self.store.find(disk), self.store.remove(disk)):
            self.refused(awaitable, GanetiError)


class PoolsContract(StorageTestCase):
    """Mixed into a test case that makes the pools of one storage type."""

    def pools(self) -> IPools:
        """The pools under test; called once a test."""
        raise NotImplementedError

    def pool(self) -> str:
        """The name of one that can be used."""
        raise NotImplementedError

    def run(self, result: Any = None) -> Any:
        """Trial's own; a bare contract is no test."""
        if type(self).pools is PoolsContract.pools:
            return result
        return super().run(result)

    def setUp(self) -> None:
        self.rooms = self.pools()

    def test_interface(self) -> None:
        """They provide IPools."""
        self.assertTrue(verifyObject(IPools, self.rooms))

    def test_space(self) -> None:
        """Free room is within the whole."""
        space = self.get(self.rooms.space(self.pool(), {}))
        self.assertTrue(0 <= space.free <= space.size)
        self.assertGreater(space.size, 0)

    def test_usable(self) -> None:
        """A pool that can be used has no fault."""
        self.assertIsNone(self.get(self.rooms.fault(self.pool())))
