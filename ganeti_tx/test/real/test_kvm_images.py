"""A real QEMU changes the images that are its disks, which nobody else can do while it runs."""

import json
import subprocess
from shutil import which
from typing import Any
from unittest import SkipTest

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, IDiskHolder
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.disk_images import DiskImages
from ganeti_tx.node.storage.file.driver import FileStorage
from ganeti_tx.node.storage.file.qemu_img import PROGRAM, QemuImg
from ganeti_tx.node.storage.holders import DiskHolders
from ganeti_tx.node.storage.views import view_of
from ganeti_tx.test.contracts.hypervisor_page import IMAGES, hold
from ganeti_tx.test.contracts.operation_cells import DONE
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec
from ganeti_tx.test.real.kvm_node import KvmNode

MIB = 1024 * 1024
FILL = ["dd", "status=none", "bs=1M", "count=1", "if=/dev/urandom", "conv=nocreat,notrunc"]


class ImagesTests(TestCase):
    """A machine with one disk in an image, and one that comes; it never gets further than its firmware."""

    timeout = 300

    def setUp(self) -> None:
        if which(PROGRAM) is None:
            raise SkipTest("qemu-img is not here; apt install qemu-utils")
        self.node = KvmNode()
        self.addCleanup(self.node.clear)
        self.driver = self.node.driver()
        self.assertTrue(IDiskHolder.providedBy(self.driver))
        node = self.node
        node.paths.run_dir.mkdir(parents=True)
        node.paths.file_storage_paths_file.write_text(f"{node.top}/srv\n")
        holder: Any = self.driver
        images = DiskImages(QemuImg(node.runner), DiskHolders([holder]), node.paths.raw_views_dir)
        self.storage = FileStorage("file", AllowedPaths(node.files, node.paths), node.threads, images)

    def disk(self, number: int) -> DiskSpec:
        """One of the instance's."""
        logical_id = ["loop", f"{self.node.top}/srv/web1/disk{number}"]
        params = {"format": "qcow2"}
        return DiskSpec(uuid=f"d{number}", dev_type="file", size=8, logical_id=logical_id, params=params, index=number)

    async def attached(self, number: int) -> AttachedDisk:
        """The same, made and ready."""
        await self.storage.create(self.disk(number))
        return AttachedDisk(self.disk(number), (await self.storage.assemble(self.disk(number))).dev_path)

    def test_running(self) -> None:
        """Grown, kept as it is for a backup, and let go again: the disk it was started with, and one that came later."""
        return Deferred.fromCoroutine(self.changed())  # type: ignore[return-value]

    async def changed(self) -> None:
        """The whole of it."""
        first = await self.attached(0)
        view = view_of(self.storage, first.spec, first.path, writable=True)
        subprocess.run([*view.prefix, *FILL, f"of={view.path}"], check=True)
        spec = kvm_spec(kvm_flag="disabled")
        await self.driver.start(spec, [first])
        await self.driver.plug_disk(spec, await self.attached(1))
        self.assertEqual(await self.driver.disk_formats(spec.name), {"d0": "qcow2", "d1": "qcow2"})
        for number in (0, 1):
            await self.storage.grow(self.disk(number), 8)
            self.assertEqual((await self.storage.assemble(self.disk(number))).size, 16)
        for number, content in ((0, True), (1, False)):
            await self.kept(number, content)
        await self.drop_when_stopped(spec.name)
        hold(self.driver.name, {IMAGES: DONE})

    async def kept(self, number: int, content: bool) -> None:
        """A snapshot is read while the machine runs, and its disk cannot be."""
        disk, path = self.disk(number), str((self.disk(number).logical_id or [])[-1])
        made = replace(disk, uuid=f"s{number}", logical_id=await self.storage.snapshot(disk, "export-1", 8), index=-1)
        self.assertEqual((await self.storage.assemble(made)).size, 16)
        view = view_of(self.storage, made, f"{path}.export-1", writable=False)
        read = subprocess.run([*view.prefix, "cat", view.path], capture_output=True, check=True).stdout
        self.assertEqual((len(read), any(read)), (16 * MIB, content))
        own = view_of(self.storage, disk, path, writable=True)
        refused = subprocess.run([*own.prefix, "true"], capture_output=True, check=False)
        self.assertIn(b"another process using the image", refused.stderr)
        for _ in range(2):
            await self.storage.remove(made)
        self.assertNotIn("snapshots", self.told(path))

    async def drop_when_stopped(self, name: str) -> None:
        """A snapshot that a machine has made goes also when it is gone; what nobody has open grows by QEMU's program."""
        disk = self.disk(0)
        made = replace(disk, uuid="s2", logical_id=await self.storage.snapshot(disk, "export-2", 8), index=-1)
        await self.driver.stop(name, 0, force=True)
        await self.storage.remove(made)
        await self.storage.grow(disk, 8)
        told = self.told(str((disk.logical_id or [])[-1]))
        self.assertEqual((told["virtual-size"], "snapshots" in told), (24 * MIB, False))
        with self.assertRaisesRegex(BlockDeviceError, "disk0.export-2"):
            await self.storage.assemble(made)

    def told(self, path: str) -> dict[str, Any]:
        """What QEMU says of an image that may be in use."""
        argv = [PROGRAM, "info", "--output=json", "--force-share", "-f", "qcow2", path]
        found: dict[str, Any] = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
        return found
