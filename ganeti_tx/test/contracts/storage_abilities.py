"""What storages keep that can do more than the others: mixed into a `StorageContract`, one for each ability."""

from subprocess import run

from msgspec.structs import replace
from zope.interface.verify import verifyObject

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.abilities import (
    IExisting,
    IOpening,
    IOwnerMark,
    ISnapshot,
    IUserspaceUri,
)
from ganeti_tx.node.storage.streams import read_command, write_command
from ganeti_tx.test.contracts.storage import StorageContract


class SnapshotContract(StorageContract):
    """ISnapshot."""

    def content(self, disk: DiskSpec) -> str:
        """What is on a disk."""
        raise NotImplementedError

    def fill(self, disk: DiskSpec, content: str) -> None:
        """Write to a disk that is ready."""
        raise NotImplementedError

    def test_snapshot(self) -> None:
        """A snapshot is a disk of its own with what was there when it was made."""
        self.assertTrue(verifyObject(ISnapshot, self.store))
        self.create()
        self.assemble()
        self.fill(self.disk(), "before")
        made = self.get(self.tree.snapshot(self.disk(), "snap", 8))
        snapshot = replace(self.disk(), logical_id=made, children=[])
        self.fill(self.disk(), "after")
        self.assertEqual((self.content(snapshot), self.content(self.disk())), ("before", "after"))
        self.assertIn("snap", str(made[-1]))
        self.get(self.tree.remove(snapshot))
        self.assertIsNone(self.get(self.tree.find(snapshot)))
        self.assertIsNotNone(self.get(self.tree.find(self.disk())))

    def test_snapshot_of_nothing(self) -> None:
        """There is none of a disk that is not there."""
        self.assertIn(self.names(self.disk()), self.refused(self.tree.snapshot(self.disk(), "snap", 8)))


class OwnerMarkContract(StorageContract):
    """IOwnerMark."""

    def mark(self, disk: DiskSpec) -> str:
        """The text that an administrator sees."""
        raise NotImplementedError

    def test_owner(self) -> None:
        """A new disk is marked as its instance's, and can become another's."""
        self.assertTrue(verifyObject(IOwnerMark, self.store))
        self.create()
        self.assertEqual(self.mark(self.disk()), "originstname+web1")
        self.get(self.tree.set_owner(self.disk(), "web2"))
        self.assertEqual(self.mark(self.disk()), "originstname+web2")


class ExistingContract(StorageContract):
    """IExisting."""

    def place(self) -> str:
        """Where the disks are."""
        raise NotImplementedError

    def test_existing(self) -> None:
        """What is there is told with its size, whoever made it; in another place nothing of it is."""
        self.assertTrue(verifyObject(IExisting, self.store))
        for number, size in ((0, 8), (1, 16)):
            self.create(number, size)
        found = self.get(IExisting(self.store).existing(self.place()))
        self.assertEqual(
            [(each.logical_id, each.size) for each in found],
            [(self.disk(0).logical_id, 8), (self.disk(1).logical_id, 16)],
        )
        self.assertFalse(any(each.in_use for each in found))


class UserspaceUriContract(StorageContract):
    """IUserspaceUri."""

    def in_userspace(self, disk: DiskSpec) -> DiskSpec:
        """The disk with the parameters by which KVM opens it itself."""
        return replace(disk, params={**disk.params, "access": "userspace"})

    def test_uri(self) -> None:
        """KVM gets a URI when the disk's parameters want one, and others open the path."""
        self.assertTrue(verifyObject(IUserspaceUri, self.store))
        self.create()
        self.assemble()
        storage = IUserspaceUri(self.store)
        uri = self.get(storage.uri(self.in_userspace(self.disk()), "kvm"))
        self.assertRegex(str(uri), r"^[a-z]+:.")
        self.assertIsNone(self.get(storage.uri(self.disk(), "kvm")))
        self.assertIsNone(self.get(storage.uri(self.in_userspace(self.disk()), "xen-pvm")))


class StreamContract(StorageContract):
    """The commands of `streams.py`, for disks of which any program can read and write the bytes."""

    def test_copied(self) -> None:
        """What is read from one disk and written to another is there, and the other's size stays."""
        for number, size in ((0, 2), (1, 4)):
            self.create(number, size)
        source, target = (self.get(self.tree.assemble(self.disk(number), True)) for number in (0, 1))
        text = bytes(range(256)) * 4 * 2048
        run([*write_command(self.store, self.disk(0), source)], input=text, check=True)
        read = run([*read_command(self.store, self.disk(0), source)], capture_output=True, check=True).stdout
        self.assertTrue(read == text)
        run([*write_command(self.store, self.disk(1), target)], input=read, check=True)
        copied = run([*read_command(self.store, self.disk(1), target)], capture_output=True, check=True).stdout
        self.assertTrue(copied == text + bytes(len(text)))

    def test_gone(self) -> None:
        """Writing to a disk that is gone makes none."""
        self.create(0, 1)
        status = self.get(self.tree.assemble(self.disk(), True))
        self.remove()
        done = run([*write_command(self.store, self.disk(), status)], input=b"x", capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIsNone(self.get(self.tree.find(self.disk())))


class OpeningContract(StorageContract):
    """IOpening."""

    def opened(self) -> list[bool]:
        """What the storage was told, in order: that a disk may be written to, or may not any more."""
        raise NotImplementedError

    def test_opening(self) -> None:
        """It is told once where an instance may write, by assembling or by itself, and once that none may any more."""
        self.assertTrue(verifyObject(IOpening, self.store))
        self.create()
        self.get(self.tree.assemble(self.disk(), False))
        self.assertEqual(self.opened(), [])
        opening = IOpening(self.store)
        self.get(opening.open(self.disk(), False))
        self.get(self.tree.assemble(self.disk(), True))
        self.assertEqual(self.opened(), [True])
        for _ in range(2):
            self.get(opening.close(self.disk()))
        self.assertEqual(self.opened(), [True, False])
        self.get(self.tree.assemble(self.disk(), True))
        self.get(self.tree.shutdown(self.disk()))
        self.assertEqual(self.opened(), [True, False, True, False])

    def test_open_nothing(self) -> None:
        """What is not assembled cannot be opened, and needs not be closed."""
        self.create()
        opening = IOpening(self.store)
        self.assertIn(self.names(self.disk()), self.refused(opening.open(self.disk(), True)))
        self.get(opening.close(self.disk()))
