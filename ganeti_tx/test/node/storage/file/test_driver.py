"""Tests of disks that are files."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import SkipTest

from attrs import frozen
from msgspec.structs import replace
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError, FileStoragePathError, GanetiError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.abilities import IExisting, IStream
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.beneath import Place
from ganeti_tx.node.storage.file.disk_files import MAX_MIB
from ganeti_tx.node.storage.file.disk_images import DiskImages
from ganeti_tx.node.storage.file.driver import FileStorage
from ganeti_tx.node.storage.file.pools import MIB, DirectoryPools
from ganeti_tx.node.storage.file.qemu_img import QemuImg
from ganeti_tx.node.storage.holders import DiskHolders
from ganeti_tx.node.storage.streams import EXTENT, amounts, read_command, write_command
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.storage import OneDeviceContract, PoolsContract
from ganeti_tx.test.contracts.storage_abilities import ExistingContract, StreamContract
from ganeti_tx.test.fakes.blocking_process import BlockingRunner
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.inprocess.disk import put


def allowed_paths(root: Path, pool: Path) -> AllowedPaths:
    """Those of a node with this root that has one pool."""
    pool.mkdir(parents=True)
    paths = Paths(root)
    files = MemoryFiles()
    files.mkdir(paths.conf_dir)
    put(files, paths.file_storage_paths_file, f"{pool}\n".encode())
    return AllowedPaths(files, paths)


def images_at(views: Path) -> DiskImages:
    """What handles images of which no machine has any open."""
    return DiskImages(QemuImg(BlockingRunner()), DiskHolders(), views)


@frozen
class ExchangedPaths:
    """Allowed paths on a node where something is exchanged after each check."""

    allowed: AllowedPaths
    exchange: Callable[[], object]

    def place(self, path: str) -> Place:
        """As `AllowedPaths` says."""
        found = self.allowed.place(path)
        self.exchange()
        return found


class FileStorageTests(OneDeviceContract, StreamContract, ExistingContract):
    """The template `file`, in a directory of its own."""

    template = "file"

    def storage(self) -> FileStorage:
        """See `OneDeviceContract`."""
        self.root = Path(os.path.realpath(self.mktemp()))
        self.pool_dir = self.root / "srv/pool"
        images = images_at(self.root / "views")
        return FileStorage(self.template, allowed_paths(self.root, self.pool_dir), InlineThreads(), images)

    def logical_id(self, number: int) -> list[object]:
        """See `OneDeviceContract`."""
        return ["loop", str(self.pool_dir / f"web1/disk{number}")]

    def place(self) -> str:
        """See `ExistingContract`."""
        return str(self.pool_dir)

    def test_existing_elsewhere(self) -> None:
        """A pool that is not there yet has none; a link is no disk; what is not allowed is refused."""
        self.assertEqual(self.get(IExisting(self.store).existing(str(self.pool_dir / "later"))), [])
        (self.pool_dir / "link").symlink_to("/etc/passwd")
        self.assertEqual(self.get(IExisting(self.store).existing(self.place())), [])
        self.refused(IExisting(self.store).existing("/etc"), FileStoragePathError)

    def at(self, path: str) -> DiskSpec:
        """A disk somewhere else."""
        return DiskSpec(uuid="d", dev_type=self.template, size=1, logical_id=["loop", path])

    def test_sparse_and_private(self) -> None:
        """A new disk is a file of the wanted size without blocks, which only the node daemon may read."""
        self.get(self.store.create(self.disk(size=64)))
        seen = (self.pool_dir / "web1/disk0").stat()
        self.assertEqual((seen.st_size, oct(seen.st_mode & 0o777)), (64 * MIB, "0o600"))
        self.assertLess(seen.st_blocks * 512, MIB)

    def test_holes_stay(self) -> None:
        """What a new disk is filled with takes room for what is not zero only, however long the zeros are."""
        self.create(0, 16)
        status = self.get(self.tree.found(self.disk()))
        text = bytearray(16 * MIB)
        text[5 * MIB + 700_000 : 5 * MIB + 700_009] = b"some data"
        text[-1] = 1
        subprocess.run([*write_command(self.store, self.disk(), status)], input=bytes(text), check=True)
        path = self.pool_dir / "web1/disk0"
        self.assertTrue(path.read_bytes() == bytes(text))
        self.assertLess(path.stat().st_blocks * 512, MIB // 2)

    def test_amounts(self) -> None:
        """A file grows with what comes, so that it has a limit."""
        self.assertEqual(amounts(self.store, self.disk(size=64)), (64, 64 + EXTENT))

    def test_left_over(self) -> None:
        """Who finds a file in the way is told who knows whether it may be removed."""
        self.get(self.store.create(self.disk()))
        self.assertIn("File exists; 'gnt-cluster verify' names it if", self.refused(self.store.create(self.disk())))

    def test_instance_directory(self) -> None:
        """The instance's directory goes with its last disk, the listed directory never."""
        for number in (0, 1):
            self.get(self.store.create(self.disk(number)))
        self.get(self.store.remove(self.disk(0)))
        self.assertTrue((self.pool_dir / "web1").exists())
        self.get(self.store.remove(self.disk(1)))
        self.assertFalse((self.pool_dir / "web1").exists())
        self.get(self.store.create(self.at(str(self.pool_dir / "lone"))))
        self.get(self.store.remove(self.at(str(self.pool_dir / "lone"))))
        self.assertTrue(self.pool_dir.exists())

    def test_rename_moves_directory(self) -> None:
        """A disk renamed into another instance's directory leaves no empty one, and keeps its bytes."""
        self.get(self.store.create(self.disk(size=1)))
        (self.pool_dir / "web1/disk0").write_bytes(b"kept")
        target = self.pool_dir / "web2/disk0"
        self.get(self.store.rename(self.disk(), ["loop", str(target)]))
        self.assertEqual(target.read_bytes(), b"kept")
        self.assertFalse((self.pool_dir / "web1").exists())

    def test_growth_keeps_data(self) -> None:
        """Growing leaves what is on the disk."""
        self.get(self.store.create(self.disk(size=1)))
        with open(self.pool_dir / "web1/disk0", "r+b") as file:
            file.write(b"kept")
        self.get(self.store.grow(self.disk(), 1))
        self.assertEqual((self.pool_dir / "web1/disk0").read_bytes()[:4], b"kept")

    def test_snapshot_of_raw(self) -> None:
        """Where the file system lets files share blocks a snapshot is a file of its own; elsewhere it is said why not."""
        self.get(self.store.create(self.disk(size=1)))
        path = self.pool_dir / "web1/disk0"
        path.write_bytes(b"before".ljust(MIB, b"\0"))
        fault = self.get(self.tree.snapshot_fault(self.disk()))
        if fault is not None:
            self.assertIn("lets no two files share blocks; disks of format qcow2", fault)
            self.assertIn("cannot have a snapshot", self.refused(self.tree.snapshot(self.disk(), "snap", 1)))
        else:
            made = replace(self.disk(), logical_id=self.get(self.tree.snapshot(self.disk(), "snap", 1)))
            path.write_bytes(b"after".ljust(MIB, b"\0"))
            self.assertEqual(Path(str(path) + ".snap").read_bytes()[:6], b"before")
            self.get(self.tree.remove(made))
        self.assertEqual([each.name for each in path.parent.iterdir()], ["disk0"])

    def test_too_large(self) -> None:
        """A size that no file can have is refused, and nothing is left."""
        self.refused(self.store.create(self.disk(size=MAX_MIB + 1)))
        self.refused(self.store.create(self.disk(size=MAX_MIB)))  # the file system's own limit
        self.assertFalse((self.pool_dir / "web1").exists())

    def test_outside(self) -> None:
        """No method touches a path outside the listed directories."""
        outside = self.root / "srv/other"
        outside.write_bytes(b"kept")
        disk = self.at(str(outside))
        for awaitable in (
            self.store.create(disk),
            self.store.remove(disk),
            self.store.grow(disk, 1),
            self.store.find(disk),
            self.store.assemble(disk),
            self.store.shutdown(disk),
            self.store.rename(disk, self.logical_id(0)),
        ):
            self.assertIn(str(outside), self.refused(awaitable, FileStoragePathError))
        self.assertEqual(outside.read_bytes(), b"kept")

    def test_rename_outside(self) -> None:
        """A disk cannot be moved out."""
        self.get(self.store.create(self.disk()))
        self.refused(self.store.rename(self.disk(), ["loop", str(self.root / "srv/other")]), FileStoragePathError)
        self.assertIsNotNone(self.get(self.store.find(self.disk())))

    def test_link_in_place_of_disk(self) -> None:
        """A symbolic link where a disk should be is refused, and what it leads to stays as it is."""
        secret = self.root / "secret"
        secret.write_bytes(b"kept")
        (self.pool_dir / "web1").mkdir()
        (self.pool_dir / "web1/disk0").symlink_to(secret)
        for awaitable in (
            self.store.create(self.disk()),
            self.store.find(self.disk()),
            self.store.grow(self.disk(), 1),
            self.store.remove(self.disk()),
        ):
            self.refused(awaitable)
        self.assertEqual(secret.read_bytes(), b"kept")

    def test_link_in_directory(self) -> None:
        """An instance's directory that leads elsewhere is refused."""
        (self.root / "elsewhere").mkdir()
        (self.pool_dir / "web1").symlink_to(self.root / "elsewhere")
        self.refused(self.store.create(self.disk()), FileStoragePathError)
        self.assertEqual(os.listdir(self.root / "elsewhere"), [])

    # Between the check of a path and its use

    def exchanged(self, exchange: Callable[[], object]) -> FileStorage:
        """The same storage, on a node where somebody exchanges something as soon as a path has been checked."""
        assert isinstance(self.store, FileStorage)
        allowed: Any = ExchangedPaths(self.store.allowed, exchange)
        return FileStorage(self.template, allowed, InlineThreads(), self.store.images)

    def exchange(self) -> None:
        """The instance's directory becomes a link to the node's secrets."""
        shutil.rmtree(self.pool_dir / "web1", ignore_errors=True)
        (self.pool_dir / "web1").unlink(missing_ok=True)
        (self.pool_dir / "web1").symlink_to(self.root / "secrets")

    def test_directory_exchanged_after_check(self) -> None:
        """A directory that becomes a link after the check leads nowhere."""
        secrets = self.root / "secrets"
        secrets.mkdir()
        (secrets / "disk0").write_bytes(b"kept")
        store = self.exchanged(self.exchange)
        for work in (
            lambda: store.create(self.disk()),
            lambda: store.create(self.disk(1)),
            lambda: store.remove(self.disk()),
            lambda: store.grow(self.disk(), 1),
            lambda: store.find(self.disk()),
            lambda: store.rename(self.disk(), self.logical_id(1)),
            lambda: DirectoryPools(store.allowed, InlineThreads()).space(str(self.pool_dir / "web1"), {}),
        ):
            shutil.rmtree(self.pool_dir)
            (self.pool_dir / "web1").mkdir(parents=True)
            (self.pool_dir / "web1/disk0").write_bytes(b"disk")
            self.assertRegex(self.refused(work(), GanetiError), "a link, or no directory|not allowed on this node")
            self.assertEqual((secrets / "disk0").read_bytes(), b"kept")
            self.assertEqual(os.listdir(secrets), ["disk0"])

    def test_disk_exchanged_after_check(self) -> None:
        """So does a disk that becomes a link, and one that becomes a pipe holds nobody up."""
        secret = self.root / "secret"
        secret.write_bytes(b"kept")
        disk = self.pool_dir / "web1/disk0"
        for make in (lambda: disk.symlink_to(secret), lambda: os.mkfifo(disk)):
            self.get(self.store.create(self.disk()))

            def exchange(make: Callable[[], object] = make) -> None:
                disk.unlink(missing_ok=True)
                make()

            store = self.exchanged(exchange)
            self.refused(store.grow(self.disk(), 1))
            self.refused(store.find(self.disk()))
            self.refused(store.create(self.disk()))
            self.refused(store.rename(self.disk(), self.logical_id(1)))
            self.refused(store.remove(self.disk()))
            self.assertEqual(secret.read_bytes(), b"kept")
            disk.unlink()

    def test_writable_by_others(self) -> None:
        """A directory that others may write to holds no disks: they could exchange one before the instance opens it."""
        web1 = self.pool_dir / "web1"
        for directory, mode in ((web1, 0o775), (web1, 0o757), (web1, 0o1777), (self.pool_dir, 0o777)):
            web1.mkdir(exist_ok=True)
            directory.chmod(mode)
            for work in (self.store.create(self.disk()), self.store.find(self.disk())):
                self.assertIn(f"chmod go-w {directory}", self.refused(work, FileStoragePathError))
            directory.chmod(0o755)
        self.pool_dir.chmod(0o1777)  # there each may exchange only what is his
        self.get(self.store.create(self.disk()))

    def test_directory_of_another(self) -> None:
        """Nor does one that another user made and owns."""
        if os.geteuid() != 0:
            raise SkipTest("only root can give a directory away")
        (self.pool_dir / "web1").mkdir()
        os.chown(self.pool_dir / "web1", 4321, 4321)
        self.assertIn("user 4321", self.refused(self.store.create(self.disk()), FileStoragePathError))


class SharedFileStorageTests(FileStorageTests):
    """The template `sharedfile` keeps the same rules."""

    template = "sharedfile"


@implementer(IStream)
class CatStorage(FileStorage):
    """Files whose bytes have commands of their own."""

    def read_command(self, disk: DiskSpec) -> list[str]:
        """See `IStream`."""
        return ["cat", str((disk.logical_id or [""])[-1])]

    def write_command(self, disk: DiskSpec) -> list[str]:
        """See `IStream`."""
        return ["dd", "status=none", "conv=nocreat,notrunc,sparse", "bs=64k", f"of={(disk.logical_id or [''])[-1]}"]


class OwnStreamTests(FileStorageTests):
    """A template with commands of its own for its bytes keeps the same contract."""

    def storage(self) -> FileStorage:
        """See `OneDeviceContract`."""
        made = super().storage()
        return CatStorage(made.template, made.allowed, made.threads, made.images)

    def test_own_commands(self) -> None:
        """They are the ones that are used."""
        self.create()
        status = self.get(self.tree.found(self.disk()))
        self.assertEqual(read_command(self.store, self.disk(), status)[0], "cat")
        self.assertIn("bs=64k", write_command(self.store, self.disk(), status))

    def test_amounts(self) -> None:
        """They are given all bytes, too; nobody else knows how much they take."""
        self.assertEqual(amounts(self.store, self.disk(size=64)), (64, 0))


class DirectoryPoolsTests(PoolsContract):
    """Directories as pools."""

    def pools(self) -> DirectoryPools:
        """See `PoolsContract`."""
        self.root = Path(os.path.realpath(self.mktemp()))
        self.pool_dir = self.root / "srv/pool"
        return DirectoryPools(allowed_paths(self.root, self.pool_dir), InlineThreads())

    def pool(self) -> str:
        """See `PoolsContract`."""
        return str(self.pool_dir)

    def test_before_the_first_disk(self) -> None:
        """A directory that the first disk will make has the room of the file system above it, and no fault."""
        coming = str(self.pool_dir / "new/er")
        self.assertGreater(self.get(self.rooms.space(coming, {})).size, 0)
        self.assertIsNone(self.get(self.rooms.fault(coming)))
        assert isinstance(self.rooms, DirectoryPools)
        (unit,) = self.get(self.rooms.units([coming]))
        self.assertEqual((unit.name, unit.used), (coming, 0))
        self.assertGreater(unit.size, 0)

    def test_elsewhere(self) -> None:
        """The room of a directory that is not listed is not told, and it cannot be used."""
        self.refused(self.rooms.space(str(self.root), {}), BlockDeviceError)
        self.assertIn(str(self.root), self.get(self.rooms.fault(str(self.root))) or "")
