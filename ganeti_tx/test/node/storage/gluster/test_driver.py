"""Tests of disks on volumes of Gluster, whose mounts are words."""

import os
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import FileStoragePathError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.abilities import IUserspaceUri
from ganeti_tx.node.storage.gluster.driver import GlusterStorage
from ganeti_tx.node.storage.gluster.pools import PLACES, PROGRAM, GlusterPools
from ganeti_tx.node.storage.gluster.volume import GlusterVolume
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.contracts.storage import OneDeviceContract, PoolsContract, StorageTestCase
from ganeti_tx.test.contracts.storage_abilities import StreamContract, UserspaceUriContract
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.node.storage.gluster.machine import PARAMS, SOURCE, GlusterMachine

MOUNT = f"mount -t glusterfs -o server-port=24007 {SOURCE} DIR"
UNMOUNT = "umount DIR"


def on_volume(machine: GlusterMachine, number: int = 0, size: int = 8, **params: Any) -> DiskSpec:
    """A disk in the directory, with some other parameters."""
    path = machine.directory / f"ganeti/u{number}.0"
    return DiskSpec(
        uuid=f"d{number}", dev_type="gluster", size=size, logical_id=["loop", str(path)], params={**PARAMS, **params}
    )


class GlusterStorageTests(OneDeviceContract, StreamContract, UserspaceUriContract):
    """The template, in a directory of its own."""

    template = "gluster"

    def storage(self) -> GlusterStorage:
        """See `OneDeviceContract`."""
        self.machine = GlusterMachine(Path(os.path.realpath(self.mktemp())))
        return self.machine.storage()

    def logical_id(self, number: int) -> list[object]:
        """See `OneDeviceContract`."""
        return list(on_volume(self.machine, number).logical_id or ())

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`."""
        return on_volume(self.machine, number, size)

    def test_directory_stays(self) -> None:
        """Another node may be making a disk in the directory in the volume when the last one here is removed."""
        self.create()
        self.remove()
        self.assertEqual(os.listdir(self.machine.directory), ["ganeti"])

    def test_addresses(self) -> None:
        """QEMU is told the server, the volume and the path in it."""
        uris = {
            host: self.get(IUserspaceUri(self.store).uri(on_volume(self.machine, access="userspace", host=host), "kvm"))
            for host in ("gluster1", "2001:db8::1")
        }
        self.assertEqual(
            uris,
            {
                "gluster1": "gluster://gluster1:24007/gv0/ganeti/u0.0",
                "2001:db8::1": "gluster://[2001:db8::1]:24007/gv0/ganeti/u0.0",
            },
        )

    def test_other_directory(self) -> None:
        """A disk does not get to another volume by a rename."""
        self.create()
        self.assertIn(
            "cannot leave its volume", self.refused(self.store.rename(self.disk(), ["loop", "/srv/x/ganeti/u"]))
        )

    def test_wrong_words(self) -> None:
        """What could be an option or another word for a program is refused, and nothing is run."""
        wrong: list[tuple[str, Any]] = [
            ("host", "-o"), ("host", "a b"), ("host", "a,b"), ("host", ""), ("host", None), ("port", 0), ("port", "1"),
            ("port", 65536), ("volume", "gv0/.."), ("volume", "-x"), ("volume", ""),
        ]  # fmt: skip
        for name, value in wrong:
            said = self.refused(self.store.find(on_volume(self.machine, **{name: value})))
            self.assertIn(f"{name} {value!r}", said)
        for path in ("ganeti/u.0", "/u.0", "/srv/gluster/../ganeti/u.0"):
            self.assertIn(path, self.refused(self.store.find(replace(self.disk(), logical_id=["loop", path]))))
        self.assertEqual(self.machine.commands, [])


class GlusterMountsTests(StorageTestCase):
    """What is mounted, and when."""

    def setUp(self) -> None:
        self.machine = GlusterMachine(Path(os.path.realpath(self.mktemp())))
        self.store = self.machine.storage()
        self.disks = [on_volume(self.machine, number) for number in (0, 1)]

    def test_when_needed(self) -> None:
        """The first look mounts; the last disk that was ready takes the mount along, whichever daemon it was."""
        self.assertEqual(self.machine.commands, [])
        for disk in self.disks:
            self.get(self.store.create(disk))
            self.get(self.store.assemble(disk))
        self.assertEqual(self.machine.commands, [MOUNT])
        later = self.machine.storage()
        self.assertTrue(self.get(later.is_ready(self.disks[1])))
        self.get(later.shutdown(self.disks[0]))
        self.assertEqual(self.machine.commands, [MOUNT])
        self.assertFalse(self.get(later.is_ready(self.disks[0])))
        self.get(later.shutdown(self.disks[1]))
        self.assertEqual(self.machine.commands, [MOUNT, UNMOUNT])
        self.assertEqual(self.machine.files.listdir(self.machine.allowed.paths.run_dir / "gluster-mounts"), [])

    def test_busy(self) -> None:
        """What is in use stays mounted without an error, and goes with what is released later."""
        self.get(self.store.create(self.disks[0]))
        self.machine.busy.add(str(self.machine.directory))
        self.get(self.store.shutdown(self.disks[0]))
        self.assertEqual(len(self.machine.mounted), 1)
        self.machine.busy.clear()
        self.get(self.store.shutdown(self.disks[0]))
        self.assertEqual(self.machine.mounted, {})

    def test_while_used(self) -> None:
        """What somebody looks at stays mounted though nothing is ready."""
        waiting: Deferred[None] = Deferred()

        async def look() -> None:
            async with self.store.mounts.used(*self.place()):
                await waiting

        looking = Deferred.fromCoroutine(look())
        self.get(self.store.shutdown(self.disks[0]))
        self.assertEqual(self.machine.commands, [MOUNT])
        waiting.callback(None)
        self.successResultOf(looking)
        self.get(self.store.shutdown(self.disks[0]))
        self.assertEqual(self.machine.commands, [MOUNT, UNMOUNT])

    def place(self) -> Any:
        """The volume and the directory."""
        return GlusterVolume("gluster1", 24007, "gv0"), self.machine.directory

    def test_of_others(self) -> None:
        """What the administrator has mounted is used and left."""
        self.machine.mounted[str(self.machine.directory)] = ("fuse.glusterfs", SOURCE)
        self.get(self.store.create(self.disks[0]))
        self.get(self.store.assemble(self.disks[0]))
        self.get(self.store.shutdown(self.disks[0]))
        self.assertEqual(self.get(self.store.leave()), [])
        self.assertEqual(self.machine.commands, [])

    def test_another_volume(self) -> None:
        """Two volumes have no room in one directory: the second one has to wait until nothing of the first is ready."""
        other = on_volume(self.machine, 1, host="gluster2", volume="gv1")
        self.get(self.store.create(self.disks[0]))
        self.get(self.store.assemble(self.disks[0]))
        said = self.refused(self.store.create(other))
        self.assertIn(f"{SOURCE} (fuse.glusterfs) is mounted on {self.machine.directory}", said)
        self.assertIn("disks lie on gluster2:/gv1", said)
        self.get(self.store.shutdown(self.disks[0]))
        self.get(self.store.find(self.disks[0]))
        self.get(self.store.create(other))
        self.assertEqual(self.machine.mounted, {str(self.machine.directory): ("fuse.glusterfs", "gluster2:/gv1")})

    def test_another_file_system(self) -> None:
        """What is no Gluster at all is neither used nor unmounted."""
        self.machine.mounted[str(self.machine.directory)] = ("nfs4", "nas:/gv0")
        self.assertIn("nas:/gv0 (nfs4) is mounted on", self.refused(self.store.create(self.disks[0])))
        self.assertEqual(self.machine.commands, [])

    def test_does_not_answer(self) -> None:
        """A mount of ours whose process has ended is replaced; that of another is left to him."""
        self.get(self.store.create(self.disks[0]))
        self.machine.dead.add(str(self.machine.directory))
        self.assertIsNotNone(self.get(self.store.find(self.disks[0])))
        commands = [MOUNT, "umount --lazy DIR", MOUNT]
        self.assertEqual(self.machine.commands, commands)
        self.get(self.store.shutdown(self.disks[0]))
        self.machine.mounted[str(self.machine.directory)] = ("fuse.glusterfs", SOURCE)
        self.machine.dead.add(str(self.machine.directory))
        self.assertIn("does not answer", self.refused(self.store.find(self.disks[0])))
        self.assertEqual(self.machine.commands, [*commands, UNMOUNT])

    def test_not_mounted(self) -> None:
        """Why it cannot be mounted is told, and what is to be installed; a program that lies is found out."""
        for status, said, told in (
            (1, b"Mounting glusterfs on /x failed.", "exited with status 1: Mounting glusterfs on /x failed."),
            (32, b"mount: unknown filesystem type 'glusterfs'.", "is the package glusterfs-client installed?"),
            (0, b"", "is not there"),
        ):
            self.machine.runner.script(["mount"], ProcessResult(status=status, stderr=said))
            text = self.refused(self.store.create(self.disks[0]))
            self.assertIn(told, text)
            self.assertIn(SOURCE, text)

    def test_not_allowed(self) -> None:
        """Nothing is mounted on a directory that the administrator has not listed."""
        disk = replace(self.disks[0], logical_id=["loop", "/srv/elsewhere/ganeti/u0.0"])
        self.assertIn("/srv/elsewhere", self.refused(self.store.create(disk), FileStoragePathError))
        self.assertEqual(self.machine.commands, [])

    def test_planted_records(self) -> None:
        """What others could have written of mounts is not believed."""
        self.get(self.machine.mounts().keep(self.machine.directory, "d0"))
        place = self.machine.allowed.paths.gluster_mounts_dir
        self.machine.files.set_owner(place, 65534, 65534)
        for looking in (self.machine.mounts().leave(), self.machine.mounts().keep(self.machine.directory, "d1")):
            self.assertIn(f"{place} is not used: others may have put links into it", self.refused(looking))

    def test_planted_directory(self) -> None:
        """Nothing is mounted below the run directory where others could put something in its place."""
        machine, paths = self.machine, self.machine.allowed.paths
        machine.directory = paths.gluster_storage_dir
        put(machine.files, paths.file_storage_paths_file, f"{machine.directory}\n".encode())
        machine.files.mkdir(machine.directory)
        machine.directory.mkdir(parents=True)
        machine.files.set_owner(machine.directory, 65534, 65534)
        text = self.refused(machine.storage().create(on_volume(machine)))
        self.assertIn(f"{machine.directory} is not used: others may have put links", text)
        self.assertEqual(machine.commands, [])
        machine.files.set_owner(machine.directory, 0, 0)
        self.get(machine.storage().create(on_volume(machine)))

    def test_leave(self) -> None:
        """A node that leaves its cluster unmounts what it has mounted; what is in use stays, and is told."""
        self.get(self.store.create(self.disks[0]))
        self.get(self.store.assemble(self.disks[0]))
        self.machine.busy.add(str(self.machine.directory))
        (said,) = self.get(self.store.leave())
        self.assertIn("target is busy", said)
        self.machine.busy.clear()
        for _ in range(2):
            self.assertEqual(self.get(self.machine.storage().leave()), [])
        self.assertEqual(self.machine.mounted, {})

    def test_started_anew(self) -> None:
        """After a start of the machine nothing is mounted, and no disk ready."""
        self.get(self.store.create(self.disks[0]))
        self.get(self.store.assemble(self.disks[0]))
        self.machine.files.mkdir(Path("/proc/sys/kernel/random"))
        self.get(self.machine.files.write_atomic(Path("/proc/sys/kernel/random/boot_id"), b"another"))
        self.machine.mounted.clear()
        self.assertFalse(self.get(self.store.is_ready(self.disks[0])))
        self.get(self.store.assemble(self.disks[0]))
        self.assertTrue(self.get(self.store.is_ready(self.disks[0])))


class GlusterPoolsTests(PoolsContract):
    """Directories with volumes."""

    def pools(self) -> GlusterPools:
        """See `PoolsContract`."""
        self.machine = GlusterMachine(Path(os.path.realpath(self.mktemp())))
        self.machine.mounted[self.pool()] = ("fuse.glusterfs", SOURCE)
        return GlusterPools(self.machine.mounts())

    def pool(self) -> str:
        """See `PoolsContract`."""
        return str(self.machine.directory)

    def test_unit(self) -> None:
        """A unit has the room of its volume, and a fault while that is not mounted."""
        pools = GlusterPools(self.machine.mounts())
        (unit,) = self.get(pools.units([self.pool()]))
        self.assertEqual((unit.name, unit.fault), (self.pool(), ""))
        self.assertGreater(unit.used, 0)
        self.machine.mounted.clear()
        (unit,) = self.get(pools.units([self.pool()]))
        self.assertIn("no volume of Gluster is mounted", unit.fault)
        self.assertIn("no volume of Gluster is mounted", self.refused(pools.space(self.pool(), {})))

    def test_unusable(self) -> None:
        """What is not listed, what is something else, and a node without the program."""
        self.assertIn("/srv/x", str(self.get(self.rooms.fault("/srv/x"))))
        self.machine.mounted[self.pool()] = ("ext4", "/dev/sdb")
        self.assertIn("/dev/sdb (ext4)", str(self.get(self.rooms.fault(self.pool()))))
        self.machine.mounted.clear()
        self.assertIsNone(self.get(self.rooms.fault(self.pool())))
        self.machine.files.remove(Path(PLACES[0]) / PROGRAM)
        self.assertIn("glusterfs-client", str(self.get(self.rooms.fault(self.pool()))))
