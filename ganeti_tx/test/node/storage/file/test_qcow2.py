"""Disks of format qcow2 keep what every disk keeps; QEMU's own programs make them."""

import json
import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any
from unittest import SkipTest

import msgspec

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.file.driver import FileStorage
from ganeti_tx.node.storage.file.pools import MIB
from ganeti_tx.node.storage.file.qemu_img import PROGRAM
from ganeti_tx.node.storage.raw_view import RawView
from ganeti_tx.node.storage.streams import amounts, read_command, write_command
from ganeti_tx.node.storage.views import view_of
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.storage import OneDeviceContract
from ganeti_tx.test.contracts.storage_abilities import SnapshotContract, StreamContract
from ganeti_tx.test.node.storage.file.test_driver import allowed_paths, images_at

#: Where in the head of an image the name of another file begins, and the features without which nobody may open it.
BACKING, FEATURES = 8, 72


class Qcow2Tests(OneDeviceContract, StreamContract, SnapshotContract):
    """The template `sharedfile`, with images."""

    template = "sharedfile"

    def storage(self) -> FileStorage:
        """See `OneDeviceContract`."""
        if shutil.which(PROGRAM) is None:
            raise SkipTest("qemu-img is not here; apt install qemu-utils")
        self.root = Path(os.path.realpath(self.mktemp()))
        self.pool_dir = self.root / "srv/pool"
        allowed = allowed_paths(self.root, self.pool_dir)
        return FileStorage(self.template, allowed, InlineThreads(), images_at(self.root / "views"))

    def logical_id(self, number: int) -> list[object]:
        """See `OneDeviceContract`."""
        return ["loop", str(self.pool_dir / f"web1/disk{number}")]

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`."""
        return msgspec.structs.replace(super().disk(number, size, node), params={"format": "qcow2"})

    def content(self, disk: DiskSpec) -> str:
        """See `SnapshotContract`."""
        command = read_command(self.store, disk, self.get(self.tree.found(disk)))
        return subprocess.run(command, capture_output=True, check=True).stdout[:20].rstrip(b"\0").decode()

    def fill(self, disk: DiskSpec, content: str) -> None:
        """See `SnapshotContract`."""
        command = write_command(self.store, disk, self.get(self.tree.found(disk)))
        subprocess.run(command, input=content.ljust(20, "\0").encode(), check=True)

    @property
    def path(self) -> Path:
        """Of the first disk."""
        return self.pool_dir / "web1/disk0"

    def overwrite(self, offset: int, value: int) -> None:
        """Eight bytes of the image."""
        with self.path.open("r+b") as file:
            file.seek(offset)
            file.write(struct.pack(">Q", value))

    def told(self) -> dict[str, Any]:
        """What QEMU says of the image."""
        argv = [PROGRAM, "info", "--output=json", "-f", "qcow2", str(self.path)]
        found: dict[str, Any] = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
        return found

    def test_image(self) -> None:
        """QEMU finds what it was told, in a file that only the node daemon may read and that has no room for zeros."""
        self.create(size=64)
        found = self.told()
        self.assertEqual((found["format"], found["virtual-size"]), ("qcow2", 64 * MIB))
        self.assertNotIn("backing-filename", found)
        self.fill(self.disk(), "x")
        self.assertEqual(oct(self.path.stat().st_mode & 0o777), "0o600")
        self.assertLess(self.path.stat().st_size, 2 * MIB)

    def test_amounts(self) -> None:
        """What a guest sees of an image does not become longer than its disk: that is said before anything is cut off."""
        self.assertEqual(amounts(self.store, self.disk(size=64)), (64, 64))

    def test_program_fails(self) -> None:
        """When QEMU's program fails nothing of the disk is left, and its last line is told."""
        self.assertIn("qemu-img create", self.refused(self.store.create(self.disk(size=(1 << 43) - 1))))
        self.assertFalse(self.path.parent.exists())

    def test_led_elsewhere(self) -> None:
        """An image that leads to another file, is corrupt, has unknown features or is none is not used by anything."""
        self.create()
        for offset, value, words in (
            (BACKING, 512, "made upon another file"),
            (FEATURES, 1 << 2, "data of its image are in another file"),
            (FEATURES, 1 << 1, "corrupt"),
            (FEATURES, 1 << 60, "not known"),
            (0, 0, "no image of format qcow2"),
        ):
            kept = self.path.read_bytes()
            self.overwrite(offset, value)
            for work in (
                self.store.find(self.disk()),
                self.tree.assemble(self.disk(), True),
                self.store.grow(self.disk(), 8),
                self.tree.snapshot(self.disk(), "snap", 8),
            ):
                self.assertIn(words, self.refused(work))
            self.path.write_bytes(kept)
        self.get(self.tree.remove(self.disk()))

    def test_raw_guest(self) -> None:
        """A raw disk on which a guest has written an image stays what it is."""
        raw = super().disk()
        self.get(self.store.create(raw))
        argv = [PROGRAM, "create", "-q", "-f", "qcow2", "-u", "-b", "/etc/passwd", "-F", "raw", str(self.path), "512M"]
        subprocess.run(argv, check=True)
        os.truncate(self.path, 8 * MIB)
        self.assertEqual(self.get(self.tree.found(raw)).size, 8)
        view = view_of(self.store, raw, str(self.path), writable=False)
        self.assertEqual(view, RawView(str(self.path)))

    def test_snapshots(self) -> None:
        """A snapshot keeps its size when the disk grows, is made once by one name, and goes with its disk."""
        self.create()
        made = self.get(self.tree.snapshot(self.disk(), "snap", 8))
        self.assertIn("already", self.refused(self.tree.snapshot(self.disk(), "snap", 8)))
        self.refused(self.tree.snapshot(self.disk(), "-a/b", 8))
        self.assertIsNone(self.get(self.tree.snapshot_fault(self.disk())))
        self.grow(self.disk(), 8)
        snapshot = msgspec.structs.replace(self.disk(), logical_id=made)
        self.assertEqual((self.size(), self.get(self.tree.found(snapshot)).size), (16, 8))
        for _ in range(2):
            self.get(self.tree.remove(snapshot))
        self.assertNotIn("snapshots", self.told())
        self.remove()
        self.assertEqual(list(self.pool_dir.iterdir()), [])

    def test_views(self) -> None:
        """A command's own status comes back, as does what it was given; nothing is left of what it saw, and what is in use is
        refused.
        """
        self.create()
        view = view_of(self.store, self.disk(), str(self.path), writable=True)
        script = f'read line; echo "$line" | dd of={view.path} conv=nocreat,notrunc status=none; exit 7'
        ended = subprocess.run([*view.prefix, "sh", "-c", script], input=b"given\n", check=False)
        self.assertEqual((ended.returncode, self.content(self.disk())), (7, "given\n"))
        subprocess.run([*view.filling, "echo", "printed"], check=True)
        self.assertEqual(self.content(self.disk()), "printed\n")
        twice = subprocess.run([*view.prefix, *view.prefix, "true"], capture_output=True, check=False)
        self.assertNotEqual(twice.returncode, 0)
        self.assertIn(b"in use by another program", twice.stderr)
        self.assertEqual(list((self.root / "views").iterdir()), [])

    def test_killed_view(self) -> None:
        """With a program that is killed all that it started ends, and the next one is not held up by what it left."""
        self.create()
        view = view_of(self.store, self.disk(), str(self.path), writable=True)
        with subprocess.Popen([*view.prefix, "sh", "-c", "echo; exec sleep 600"], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.kill()
            self.assertEqual(process.stdout.read(), b"")  # the command has it open as long as it runs
        subprocess.run(["sh", "-c", self.until_unlocked()], check=True, timeout=60)
        self.assertEqual(self.content(self.disk()), "")

    def until_unlocked(self) -> str:
        """Waits until no program of QEMU's has the image open."""
        return f"until {PROGRAM} check -q -f qcow2 {self.path} 2>/dev/null; do sleep 0.05; done"

    def test_others_directory(self) -> None:
        """Views are not in a directory to which others may write."""
        self.create()
        (self.root / "views").mkdir()
        (self.root / "views").chmod(0o777)
        view = view_of(self.store, self.disk(), str(self.path), writable=True)
        ended = subprocess.run([*view.prefix, "true"], capture_output=True, check=False)
        self.assertIn(b"only its owner", ended.stderr)
