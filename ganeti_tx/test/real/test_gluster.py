"""Disks on a real volume of Gluster: they keep the contract of every disk, and survive the death of a brick."""

import os
import subprocess
import tempfile
import time
from pathlib import Path
from uuid import uuid4

from twisted.trial.unittest import SkipTest

from ganeti_tx.devcluster.machines import end_machines
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.abilities import IUserspaceUri
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.driver import FileStorage
from ganeti_tx.node.storage.gluster.driver import GlusterStorage
from ganeti_tx.node.storage.gluster.mounts import GlusterMounts
from ganeti_tx.node.storage.gluster.pools import GlusterPools
from ganeti_tx.node.storage.gluster.records import MountRecords
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.storage import OneDeviceContract
from ganeti_tx.test.contracts.storage_abilities import StreamContract, UserspaceUriContract
from ganeti_tx.test.fakes.blocking_process import BlockingRunner
from ganeti_tx.test.node.storage.file.test_driver import images_at
from ganeti_tx.test.real.gluster import ALONE, LIMIT, PATIENCE, GlusterServers, end, gluster_servers, processes_with

MIB = 1 << 20
#: In a mounted volume: what is told of each connection to a brick.
CONNECTIONS = ".meta/graphs/active/*-client-*/private"


def write_through(path: Path, content: bytes) -> None:
    """Put it at the beginning of a disk, and wait until it is there."""
    with path.open("r+b", buffering=0) as file:
        file.write(content)
        os.fsync(file.fileno())


class GlusterNode:
    """A node's root with the driver, whose mounts go with `clear`."""

    def __init__(self) -> None:
        self.top = Path(tempfile.mkdtemp(prefix="gtx", dir="/tmp"))
        self.root = self.top / "node1"
        self.directory = self.root / "srv/gluster"
        self.paths = Paths(self.root)
        self.paths.file_storage_paths_file.parent.mkdir(parents=True)
        self.paths.file_storage_paths_file.write_text(f"{self.directory}\n")
        self.paths.run_dir.mkdir(parents=True)
        files = RealFiles(InlineThreads())
        allowed = AllowedPaths(files, self.paths)
        records = MountRecords(files, self.paths.run_dir / "gluster-mounts")
        self.mounts = GlusterMounts(allowed, records, BlockingRunner(), InlineThreads())
        images = images_at(self.paths.run_dir / "views")
        own = FileStorage("gluster", allowed, InlineThreads(), images, keeps_directories=True)
        self.storage = GlusterStorage("gluster", own, self.mounts)


class RealGlusterTests(OneDeviceContract, StreamContract, UserspaceUriContract):
    """One node; the volume is kept from test to test, so that disks of each have names of their own."""

    template = "gluster"
    timeout = 300

    def setUp(self) -> None:
        self.servers: GlusterServers = gluster_servers()
        self.node = GlusterNode()
        self.addCleanup(self.clear)
        self.unique = str(uuid4())
        super().setUp()

    def clear(self) -> None:
        """Nothing of the node is left."""
        self.assertEqual(self.get(self.node.storage.leave()), [])
        self.assertFalse(os.path.ismount(self.node.directory))
        subprocess.run(["rm", "-r", "--one-file-system", str(self.node.top)], check=True)

    def storage(self) -> GlusterStorage:
        """See `OneDeviceContract`."""
        return self.node.storage

    def logical_id(self, number: int) -> list[object]:
        """See `OneDeviceContract`."""
        return ["loop", str(self.node.directory / f"ganeti/{self.unique}.{number}")]

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`."""
        return DiskSpec(
            uuid=f"{self.unique}{number}", dev_type="gluster", size=size,
            logical_id=self.logical_id(number), params=self.servers.params(),
        )  # fmt: skip

    def copies(self, number: int = 0) -> list[Path]:
        """Where each server has a disk."""
        return [self.servers.brick(server) / f"ganeti/{self.unique}.{number}" for server in (0, 1)]

    def test_copied_by_servers(self) -> None:
        """What is written to a disk is on both servers, and neither has the disk when it is removed."""
        self.create()
        path = Path(self.assemble().dev_path)
        path.write_bytes(b"data".ljust(8 * MIB))
        self.assertEqual([copy.read_bytes()[:4] for copy in self.copies()], [b"data", b"data"])
        self.remove()
        self.assertEqual([copy.exists() for copy in self.copies()], [False, False])

    def test_unmounted(self) -> None:
        """The mount goes with the last disk, not while a disk is ready or something has one open."""
        self.create(0)
        self.create(1)
        self.assemble(0)
        path = Path(self.assemble(1).dev_path)
        self.get(self.tree.shutdown(self.disk(0)))
        self.assertTrue(os.path.ismount(self.node.directory))
        with path.open("rb"):
            self.get(self.tree.shutdown(self.disk(1)))
            self.assertTrue(os.path.ismount(self.node.directory))
        self.get(self.tree.shutdown(self.disk(1)))
        self.assertFalse(os.path.ismount(self.node.directory))
        self.remove(0)
        self.remove(1)

    def test_devcluster_ends(self) -> None:
        """Where the node is one of a devcluster that is taken down, the mount goes though a disk is ready, unless that is open."""
        self.create()
        path = Path(self.assemble().dev_path)
        with path.open("rb"):
            (fault,) = end_machines(self.node.top)
            self.assertIn("busy", fault)
        self.assertEqual(end_machines(self.node.top), [])
        self.assertFalse(os.path.ismount(self.node.directory))
        self.remove()

    def test_room(self) -> None:
        """The unit is as large as the volume; without a mount nobody knows."""
        pools = GlusterPools(self.node.mounts)
        place = str(self.node.directory)
        self.assertIsNone(self.get(pools.fault(place)))
        self.assertIn("no volume of Gluster is mounted", self.refused(pools.space(place, {})))
        self.create()
        (unit,) = self.get(pools.units([place]))
        seen = os.statvfs(self.servers.directory)
        self.assertEqual((unit.size, unit.fault), (seen.f_blocks * seen.f_frsize // MIB, ""))
        self.remove()

    def test_another_volume(self) -> None:
        """A disk of another volume takes the directory over when nothing of the first is ready, and not before."""
        self.create(0)
        self.assemble(0)
        other = DiskSpec(
            uuid=self.unique,
            dev_type="gluster",
            size=8,
            logical_id=self.logical_id(1),
            params=self.servers.params(ALONE),
        )
        self.assertIn(f"disks lie on {self.servers.addresses[0]}:/{ALONE}", self.refused(self.store.create(other)))
        self.get(self.store.shutdown(self.disk(0)))
        self.get(self.store.create(other))
        self.assertTrue((self.servers.brick(0, ALONE) / f"ganeti/{self.unique}.1").exists())
        self.get(self.store.remove(other))
        self.remove(0)

    def test_no_volume(self) -> None:
        """A volume, and a server, that is not there is told in one line, and leaves nothing mounted."""
        for name, value in (("volume", "none"), ("port", 24999)):
            disk = DiskSpec(
                uuid=self.unique, dev_type="gluster", size=8, logical_id=self.logical_id(0),
                params={**self.servers.params(), name: value},
            )  # fmt: skip
            self.assertIn(f"cannot mount {self.servers.addresses[0]}:/", self.refused(self.store.create(disk)))
            self.assertFalse(os.path.ismount(self.node.directory))

    def test_cut_off(self) -> None:
        """Who writes stands still while a server is silent, until it is given up; what that has missed it gets afterwards."""
        self.create()
        path = Path(self.assemble().dev_path)
        for silent in (1, 0):
            word = f"without server {silent}".encode()
            self.servers.cut(silent)
            self.addCleanup(self.servers.mend, silent)
            began = time.monotonic()
            write_through(path, word)
            stood = time.monotonic() - began
            self.assertTrue(PATIENCE / 2 < stood < 4 * PATIENCE, f"{stood} s")
            self.assertEqual([copy.read_bytes().startswith(word) for copy in self.copies()], [silent == 1, silent == 0])
            self.grow(self.disk(), 4)
            self.servers.mend(silent)
            self.assertEqual([copy.read_bytes().startswith(word) for copy in self.copies()], [True, True])
            self.assertEqual(*[copy.stat().st_size for copy in self.copies()])
            self.await_connections()
        self.remove()

    def await_connections(self) -> None:
        """Until the mount has both servers, as it tells itself."""
        deadline = time.monotonic() + LIMIT
        while sum(b"connected = 1\n" in each.read_bytes() for each in self.node.directory.glob(CONNECTIONS)) < 2:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)

    def test_client_ended(self) -> None:
        """When the process behind the mount has died, the next one who looks has it mounted anew."""
        self.create()
        self.assemble()
        for pid in list(processes_with(self.node.directory)):
            end(pid)
        self.assertEqual(self.size(), 8)
        self.remove()

    def test_qemu(self) -> None:
        """QEMU itself finds the disk by its address, with what was written by the mount, and the other way round."""
        if not Path("/usr/lib/x86_64-linux-gnu/qemu/block-gluster.so").exists():
            raise SkipTest("QEMU cannot open Gluster; install qemu-block-extra")
        self.create()
        path = Path(self.assemble().dev_path)
        with path.open("r+b") as file:
            file.write(b"\x07" * MIB)
        uri = self.get(IUserspaceUri(self.store).uri(self.in_userspace(self.disk()), "kvm"))
        assert uri is not None
        done = subprocess.run(
            ["qemu-io", "-f", "raw", "-c", "read -P 7 0 1M", "-c", "write -P 9 1M 1M", uri],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        self.assertNotIn("verification failed", done.stdout)
        self.assertIn("wrote 1048576/1048576", done.stdout)
        self.assertEqual(path.read_bytes()[MIB : 2 * MIB], b"\x09" * MIB)
        self.remove()
