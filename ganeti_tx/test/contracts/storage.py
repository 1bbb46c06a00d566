"""What every disk template keeps, real or fake."""

from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.errors import BlockDeviceError, GanetiError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.interfaces import ISpace, IStorage

T = TypeVar("T")


class StorageContract(SynchronousTestCase):
    """Mixed into a test case that makes a storage of a template and logical ids for it."""

    def storage(self) -> IStorage:
        """The storage under test, with nothing in it; called once a test."""
        raise NotImplementedError

    def logical_id(self, number: int) -> list[Any]:
        """The logical id of disk `number` of one instance."""
        raise NotImplementedError

    def run(self, result: Any = None) -> Any:
        """Trial's own; a bare contract is no test."""
        if type(self).storage is StorageContract.storage:
            return result
        return super().run(result)

    def setUp(self) -> None:
        self.store = self.storage()

    def disk(self, number: int = 0, size: int = 8) -> DiskSpec:
        """A disk that is not there yet."""
        uuid = f"d{number}"
        return DiskSpec(uuid=uuid, dev_type=self.store.template, size=size, logical_id=self.logical_id(number))

    def get(self, awaitable: Coroutine[Any, Any, T]) -> T:
        """What it gives at once."""
        return self.successResultOf(Deferred.fromCoroutine(awaitable))

    def refused(self, awaitable: Coroutine[Any, Any, object], kind: type[GanetiError] = BlockDeviceError) -> str:
        """The one line with which it fails."""
        text = str(self.failureResultOf(Deferred.fromCoroutine(awaitable), kind).value)
        self.assertNotIn("\n", text)
        return text

    def test_interface(self) -> None:
        """It provides IStorage."""
        self.assertTrue(verifyObject(IStorage, self.store))

    def test_created(self) -> None:
        """A created disk is found, with its size and an absolute path."""
        disk = self.disk(size=8)
        self.get(self.store.create(disk))
        found = self.get(self.store.find(disk))
        assert found is not None
        self.assertEqual((found.size, found.dev_path[0], found.is_degraded), (8, "/", False))
        self.assertEqual(self.get(self.store.size(disk)), 8)

    def test_absent(self) -> None:
        """A disk that was not created is None to find, and an error that names it to all that need it."""
        disk = self.disk()
        name = str(disk.logical_id and disk.logical_id[-1])
        self.assertIsNone(self.get(self.store.find(disk)))
        self.assertIn(name, self.refused(self.store.size(disk)))
        self.assertIn(name, self.refused(self.store.assemble(disk)))
        self.assertIn(name, self.refused(self.store.grow(disk, 1)))
        self.assertIn(name, self.refused(self.store.rename(disk, self.logical_id(1))))
        self.assertIsNone(self.get(self.store.find(self.disk(1))))

    def test_create_twice(self) -> None:
        """Creating a disk that exists fails and leaves it as it was."""
        self.get(self.store.create(self.disk(size=8)))
        self.refused(self.store.create(self.disk(size=16)))
        self.assertEqual(self.get(self.store.size(self.disk())), 8)

    def test_create_nothing(self) -> None:
        """A disk without room for anything is refused and not there."""
        for size in (0, -1):
            self.assertIn(str(size), self.refused(self.store.create(self.disk(size=size))))
        self.assertIsNone(self.get(self.store.find(self.disk())))

    def test_remove(self) -> None:
        """A removed disk is gone, the others stay; removing it again succeeds."""
        for number in (0, 1):
            self.get(self.store.create(self.disk(number)))
        for _ in range(2):
            self.get(self.store.remove(self.disk(0)))
        self.assertIsNone(self.get(self.store.find(self.disk(0))))
        self.assertIsNotNone(self.get(self.store.find(self.disk(1))))

    def test_create_again(self) -> None:
        """The place of a removed disk is free."""
        for size in (8, 16):
            self.get(self.store.create(self.disk(size=size)))
            self.assertEqual(self.get(self.store.size(self.disk())), size)
            self.get(self.store.remove(self.disk()))

    def test_grow(self) -> None:
        """Growing adds to the present size, whatever size the spec tells; a dry run adds nothing."""
        self.get(self.store.create(self.disk(size=8)))
        self.get(self.store.grow(self.disk(size=99), 4))
        self.get(self.store.grow(self.disk(), 4, dry_run=True))
        self.assertEqual(self.get(self.store.size(self.disk())), 12)

    def test_shrink(self) -> None:
        """A disk never shrinks."""
        self.get(self.store.create(self.disk(size=8)))
        self.assertIn("-1", self.refused(self.store.grow(self.disk(), -1)))
        self.assertEqual(self.get(self.store.size(self.disk())), 8)

    def test_rename(self) -> None:
        """A renamed disk is found under its new logical id only."""
        self.get(self.store.create(self.disk(0, size=8)))
        self.get(self.store.rename(self.disk(0), self.logical_id(1)))
        self.assertIsNone(self.get(self.store.find(self.disk(0))))
        self.assertEqual(self.get(self.store.size(self.disk(1))), 8)

    def test_rename_onto(self) -> None:
        """A logical id that is taken is refused, and both disks stay."""
        self.get(self.store.create(self.disk(0, size=8)))
        self.get(self.store.create(self.disk(1, size=16)))
        self.refused(self.store.rename(self.disk(0), self.logical_id(1)))
        self.assertEqual([self.get(self.store.size(self.disk(number))) for number in (0, 1)], [8, 16])

    def test_assemble(self) -> None:
        """Assembling and shutting down can each be done twice, and keep the disk."""
        self.get(self.store.create(self.disk(size=8)))
        for _ in range(2):
            self.assertEqual(self.get(self.store.assemble(self.disk())).size, 8)
        for _ in range(2):
            self.get(self.store.shutdown(self.disk()))
        self.assertEqual(self.get(self.store.size(self.disk())), 8)

    def test_no_logical_id(self) -> None:
        """A disk without a logical id is refused by everything."""
        disk = msgspec.structs.replace(self.disk(), logical_id=None)
        for awaitable in (self.store.create(disk), self.store.find(disk), self.store.remove(disk)):
            self.refused(awaitable, GanetiError)

    def test_space(self) -> None:
        """Free room is within the whole, for templates that know it."""
        if ISpace.providedBy(self.store):
            space = self.get(ISpace(self.store).space(self.pool(), {}))
            self.assertEqual(set(space), {"storage_size", "storage_free"})
            self.assertTrue(0 <= space["storage_free"] <= space["storage_size"])

    def pool(self) -> str:
        """The name of the pool that the logical ids lie in."""
        return "/"
