"""Real OS definitions, with real scripts, on real disks: Debian's noop and our busybox."""

import time
from collections.abc import Coroutine
from pathlib import Path
from shutil import which
from tempfile import mkdtemp
from typing import Any

import msgspec
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.python.filepath import FilePath
from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.os.catalogue import OsCatalogue
from ganeti_tx.node.os.scripts import OsScripts
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.disk_images import DiskImages
from ganeti_tx.node.storage.file.driver import FileStorage
from ganeti_tx.node.storage.file.qemu_img import QemuImg
from ganeti_tx.node.storage.holders import DiskHolders
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.test.real.guest import BUSYBOX_OS, Guest, make_guest

NOOP = Path("/usr/share/ganeti/os/noop")


class RealOsTestCase(TestCase):
    """A node root with a file storage directory, and OS definitions of this guest."""

    timeout = 400
    os_directories = (NOOP.parent, BUSYBOX_OS.parent)

    def setUp(self) -> None:
        self.top = Path(mkdtemp(prefix="os"))  # short: a socket's name lies in it
        self.addCleanup(FilePath(str(self.top)).remove)
        self.paths = Paths(self.top)
        threads = reactor_threads(reactor)  # type: ignore[arg-type]
        files = RealFiles(threads)
        self.paths.conf_dir.mkdir(parents=True)
        self.paths.file_storage_paths_file.write_text(f"{self.top}/srv\n")
        self.runner = ReactorProcessRunner(reactor, reactor)
        images = DiskImages(QemuImg(self.runner), DiskHolders(), self.paths.raw_views_dir)
        self.storage = FileStorage("file", AllowedPaths(files, self.paths), threads, images)
        catalogue = OsCatalogue(files, self.os_directories)
        self.scripts = OsScripts(catalogue, self.paths, self.runner, threads, time.time)

    def instance(self, os: str, size: int = 64, **osparams: str) -> InstanceSpec:
        """An instance with one disk."""
        logical_id = ["loop", f"{self.top}/srv/web1/disk0"]
        return InstanceSpec(
            name="web1.example.com",
            uuid="i",
            primary_node="p",
            hypervisor="kvm",
            os=os,
            hvparams={},
            beparams={},
            osparams=osparams,
            disks=[DiskSpec(uuid="d", dev_type="file", size=size, logical_id=logical_id, index=0)],
        )

    async def attach(self, instance: InstanceSpec) -> list[AttachedDisk]:
        """Its disks, made and ready."""
        for disk in instance.disks:
            await self.storage.create(disk)
        return [AttachedDisk(disk, (await self.storage.assemble(disk)).dev_path) for disk in instance.disks]


def coroutine_test(function: Any) -> Any:
    """Trial waits for a coroutine method."""

    def run(self: TestCase) -> Deferred[Any]:
        work: Coroutine[Any, Any, Any] = function(self)
        return Deferred.fromCoroutine(work)

    run.__doc__ = function.__doc__
    run.__name__ = function.__name__
    return run


class NoopTests(RealOsTestCase):
    """Debian's ganeti-os-noop."""

    def setUp(self) -> None:
        if not NOOP.is_dir():
            raise SkipTest(f"package ganeti-os-noop is not installed: no {NOOP}")
        super().setUp()

    @coroutine_test
    async def test_noop(self) -> None:
        """It is found, valid, and its scripts run; each run leaves a log."""
        (row,) = [each for each in self.scripts.catalogue.diagnose() if each.name == "noop"]
        self.assertEqual((row.valid, row.trusted, row.api_versions), (True, True, [5, 10]))
        asked = OsValidate(required=True, os_name="noop", checks=["parameters"], osparams={})
        self.assertTrue(await self.scripts.validate(asked))
        instance = self.instance("noop", size=1)
        disks = await self.attach(instance)
        await self.scripts.run_create(instance, disks)
        await self.scripts.run_rename(instance, disks, "old.example.com")
        self.assertEqual([log.name.split("-")[0] for log in sorted(self.paths.log_os_dir.iterdir())], ["add", "rename"])


class BusyboxTests(RealOsTestCase):
    """Our own OS definition."""

    def setUp(self) -> None:
        missing = [tool for tool in ("busybox", "mke2fs", "debugfs") if which(tool) is None]
        if missing:
            raise SkipTest(f"not installed: {', '.join(missing)}")
        super().setUp()

    async def installed(self, instance: InstanceSpec) -> list[AttachedDisk]:
        """Its disks, with a system on the first."""
        disks = await self.attach(instance)
        await self.scripts.run_create(instance, disks)
        return disks

    async def host_name(self, disk: AttachedDisk) -> str:
        """What /etc/hostname on the disk says."""
        return (await self.runner.run(["debugfs", "-R", "cat /etc/hostname", disk.path])).stdout.decode().strip()

    @coroutine_test
    async def test_verify(self) -> None:
        """The definition is whole; its parameter and its variants are checked."""

        def validate(name: str, osparams: dict[str, Any]) -> Coroutine[Any, Any, bool]:
            return self.scripts.validate(
                OsValidate(required=True, os_name=name, checks=["parameters"], osparams=osparams)
            )

        self.assertTrue(await validate("busybox+tick", {"dhcp": "yes"}))
        for name, params in (("busybox", {}), ("busybox+other", {}), ("busybox+default", {"dhcp": "perhaps"})):
            with self.assertRaises(OpPrereqError):
                await validate(name, params)

    @coroutine_test
    async def test_rename(self) -> None:
        """A renamed instance's guest has the new host name."""
        instance = self.instance("busybox+default")
        disks = await self.installed(instance)
        self.assertEqual(await self.host_name(disks[0]), "web1.example.com")
        renamed = msgspec.structs.replace(instance, name="web2.example.com")
        await self.scripts.run_rename(renamed, disks, "web1.example.com")
        self.assertEqual(await self.host_name(disks[0]), "web2.example.com")

    @coroutine_test
    async def test_too_small(self) -> None:
        """A disk without room for the system fails with what the tools said."""
        instance = self.instance("busybox+default", size=1)
        with self.assertRaises(OpExecError) as caught:
            await self.installed(instance)
        self.assertIn("log", str(caught.exception))

    @coroutine_test
    async def test_export_import(self) -> None:
        """What export writes, import makes the same disk of; the predicted size is the written one."""
        disks = await self.installed(self.instance("busybox+default", size=8))
        size, copy = self.top / "size", self.top / "copy"
        with open(size, "wb") as size_file, open(copy, "wb") as copy_file:
            env = {"EXPORT_INDEX": "0", "EXPORT_DISK_PATH": disks[0].path, "EXP_SIZE_FD": "11"}
            fds = {1: copy_file.fileno(), 11: size_file.fileno()}
            exported = await self.runner.run([str(BUSYBOX_OS / "export")], env=env, child_fds=fds)
        self.assertTrue(exported.succeeded, exported.describe())
        self.assertEqual(size.read_text(), f"{8 << 20}\n")
        target = self.top / "target"
        target.touch()
        target.open("wb").truncate(8 << 20)
        with open(copy, "rb") as copy_file:
            env = {"IMPORT_INDEX": "0", "IMPORT_DISK_PATH": str(target)}
            imported = await self.runner.run([str(BUSYBOX_OS / "import")], env=env, child_fds={0: copy_file.fileno()})
        self.assertTrue(imported.succeeded, imported.describe())
        self.assertEqual(target.read_bytes(), Path(disks[0].path).read_bytes())

    @coroutine_test
    async def test_boot(self) -> None:
        """An installed guest boots, has a shell on its console, and powers off when its button is pressed."""
        guest = await make_guest()
        disks = await self.installed(self.instance("busybox+tick"))
        drive = ["-drive", f"file={disks[0].path},format=raw,if=virtio"]
        booted = Guest.boot(guest, self.top / "qmp", drive)
        self.addCleanup(booted.kill)
        await booted.wait_for(b"ganeti_tx guest web1.example.com is up")
        await booted.wait_for(b"tick 2")
        await booted.wait_for(b"web1# ")
        booted.type(b"echo $((6*7)) > /root/answer; cat /root/answer")
        await booted.wait_for(b"\n42")
        await booted.press_power_button()
        self.assertEqual(await booted.ended.addTimeout(60, reactor), 0)
        self.assertIn(b"Requesting system poweroff", booted.console)
        read = await self.runner.run(["debugfs", "-R", "cat /root/answer", disks[0].path])
        self.assertEqual(read.stdout, b"42\n")

    @coroutine_test
    async def test_boot_diskless(self) -> None:
        """A guest without a disk boots to a shell from its initrd, and powers off too."""
        booted = Guest.boot(await make_guest(), self.top / "qmp")
        self.addCleanup(booted.kill)
        await booted.wait_for(b"ganeti_tx guest without a root disk is up")
        await booted.wait_for(b"/ # ")
        await booted.press_power_button()
        self.assertEqual(await booted.ended.addTimeout(60, reactor), 0)
