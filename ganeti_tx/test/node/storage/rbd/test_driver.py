"""Tests of Ceph's images, with its programs in memory."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.abilities import IUserspaceUri
from ganeti_tx.node.storage.rbd.command import PATIENCE
from ganeti_tx.node.storage.rbd.driver import KERNEL_BUS, RbdImages
from ganeti_tx.node.storage.rbd.pools import RadosPools
from ganeti_tx.node.storage.rbd.tools import PAUSE, TRIES, RbdTools
from ganeti_tx.runtime.process import NOT_FOUND, ProcessResult
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.storage import OneDeviceContract, PoolsContract
from ganeti_tx.test.contracts.storage_abilities import OwnerMarkContract, SnapshotContract, UserspaceUriContract
from ganeti_tx.test.fakes.ceph import PROGRAMS, CephNode, MemoryCeph
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner


def runner_of(node: CephNode, clock: Clock) -> FakeProcessRunner:
    """Runs the node's programs."""
    runner = FakeProcessRunner(clock)
    for program in PROGRAMS:
        runner.script([program], node.run)
    return runner


class RbdTests(OneDeviceContract, OwnerMarkContract, SnapshotContract, UserspaceUriContract):
    """A node whose kernel can have devices for images."""

    template = "rbd"
    kernel = True

    def storage(self) -> RbdImages:
        """See `OneDeviceContract`."""
        self.ceph = MemoryCeph()
        self.node = CephNode(self.ceph, self.kernel)
        self.files = MemoryFiles()
        if self.kernel:
            self.files.mkdir(KERNEL_BUS)
        return self.beside(self.node)

    def beside(self, node: CephNode) -> RbdImages:
        """The storage of a node."""
        self.clock = Clock()
        self.runner = runner_of(node, self.clock)
        tools = RbdTools(self.runner, self.clock)
        return RbdImages("rbd", tools, self.files, InlineThreads(), node.look)

    def logical_id(self, number: int) -> list[object]:
        """See `OneDeviceContract`."""
        return ["rbd", f"u.rbd.disk{number}"]

    def image(self, disk: DiskSpec) -> FakeDisk:
        """What is in the pool."""
        return self.ceph.pools["rbd"][(disk.logical_id or [""])[-1]]

    def mark(self, disk: DiskSpec) -> str:
        """See `OwnerMarkContract`."""
        return self.image(disk).owner

    def content(self, disk: DiskSpec) -> str:
        """See `SnapshotContract`."""
        return self.image(disk).content

    def fill(self, disk: DiskSpec, content: str) -> None:
        """See `SnapshotContract`."""
        self.image(disk).content = content

    def test_no_snapshot_is_left(self) -> None:
        """What a snapshot was made of is given up, whether that went well or not."""
        self.create()
        self.get(self.tree.snapshot(self.disk(), "snap", 8))
        self.assertIn("u.rbd.disk0.snap", self.refused(self.tree.snapshot(self.disk(), "snap", 8)))
        self.assertEqual(self.ceph.snapshots, {})
        self.assertEqual(sorted(self.ceph.pools["rbd"]), ["u.rbd.disk0", "u.rbd.disk0.snap"])

    def test_pool(self) -> None:
        """It is the one that the parameters say; one that is not there is told by everything."""
        self.ceph.pools["fast"] = {}
        disk = replace(self.disk(), params={**self.disk().params, "pool": "fast"})
        self.get(self.store.create(disk))
        self.assertEqual(list(self.ceph.pools["fast"]), ["u.rbd.disk0"])
        other = replace(disk, params={"pool": "slow"})
        for awaitable in (self.store.create(other), self.store.find(other), self.store.remove(other)):
            self.assertIn("error opening pool 'slow'", self.refused(awaitable))

    def test_names(self) -> None:
        """What Ceph, or a program, would read otherwise is no name."""
        for wrong in (["rbd", "a/b"], ["rbd", "a@b"], ["rbd", "-a"], ["rbd", ""], ["rbd"], ["x", "a"], ["rbd", 3]):
            self.refused(self.store.create(replace(self.disk(), logical_id=wrong)))
        self.assertIn("'a/b'", self.refused(self.store.create(replace(self.disk(), params={"pool": "a/b"}))))
        self.assertEqual(self.node.ran, [])

    def test_not_installed(self) -> None:
        """A node without the programs says which package has them."""
        self.runner.script(["rbd"], ProcessResult(status=NOT_FOUND))
        self.assertIn("package ceph-common", self.refused(self.store.create(self.disk())))

    def test_cluster_is_away(self) -> None:
        """It is not waited for longer than some seconds, and nothing is called gone."""
        self.create()
        self.ceph.up = False
        for awaitable in (
            self.store.find(self.disk()),
            self.store.remove(self.disk()),
            self.store.grow(self.disk(), 4),
        ):
            self.assertIn("couldn't connect to the cluster", self.refused(awaitable))
        self.assertTrue(all(str(PATIENCE) in call.argv for call in self.runner.calls))

    def test_client_that_died(self) -> None:
        """Ceph counts it as a user of an image for some time; an image is removed as soon as it does no longer."""
        self.create()
        self.ceph.watched.add("rbd/u.rbd.disk0")
        removing = Deferred.fromCoroutine(self.store.remove(self.disk()))
        self.clock.advance(PAUSE)
        self.assertNoResult(removing)
        self.ceph.watched.clear()
        self.clock.advance(PAUSE)
        self.successResultOf(removing)
        self.assertEqual(self.ceph.pools["rbd"], {})

    def test_in_use(self) -> None:
        """What is in use for longer is not removed."""
        self.create()
        self.ceph.watched.add("rbd/u.rbd.disk0")
        removing = Deferred.fromCoroutine(self.store.remove(self.disk()))
        self.clock.pump([PAUSE] * TRIES)
        text = str(self.failureResultOf(removing, BlockDeviceError).value)
        self.assertEqual(text, "cannot remove rbd image rbd/u.rbd.disk0: rbd: error: image still has watchers")
        self.assertEqual(self.size(), 8)


class DeviceTests(RbdTests):
    """What a device is there for."""

    def test_device(self) -> None:
        """A disk that is ready has one, with its number; one that is not is where it would be."""
        self.create()
        self.assertEqual(self.get(self.tree.found(self.disk())).dev_path, "/dev/rbd/rbd/u.rbd.disk0")
        status = self.assemble()
        self.assertEqual((status.dev_path, status.major, status.minor), ("/dev/rbd0", 252, 0))
        self.get(self.tree.shutdown(self.disk()))
        self.assertFalse(self.get(self.store.is_ready(self.disk())))

    def test_on_another_node(self) -> None:
        """Two nodes have it at the same time, as a migration needs it; it is removed when neither has."""
        self.create()
        self.assemble()
        other = self.beside(CephNode(self.ceph))
        self.get(other.assemble(self.disk(), primary=True))
        removing = Deferred.fromCoroutine(other.remove(self.disk()))
        self.get(other.shutdown(self.disk()))
        self.assertNoResult(removing)
        self.get(self.store.shutdown(self.disk()))
        self.clock.advance(PAUSE)
        self.successResultOf(removing)

    def test_not_renamed(self) -> None:
        """A disk that is ready keeps its name: its device would."""
        self.create()
        self.assemble()
        self.assertIn("has a device", self.refused(self.tree.rename(self.disk(), self.other_id())))

    def test_userspace(self) -> None:
        """A disk that KVM opens itself has a device all the same, for scripts."""
        self.create()
        self.get(self.tree.assemble(self.in_userspace(self.disk()), True))
        self.assertEqual(list(self.node.mapped), ["/dev/rbd0"])


class WithoutModuleTests(RbdTests):
    """A node whose kernel has no module for images."""

    kernel = False
    has_path = False

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`: for KVM."""
        return self.in_userspace(super().disk(number, size, node))

    def uri(self, hypervisor: str = "kvm", **params: Any) -> str | None:
        """What a hypervisor opens."""
        disk = replace(self.disk(), params={"access": "userspace", **params})
        found: str | None = self.get(IUserspaceUri(self.store).uri(disk, hypervisor))
        return found

    def test_uri(self) -> None:
        """It is what QEMU opens; other hypervisors have nothing to open."""
        self.assertEqual(self.uri(), "rbd:rbd/u.rbd.disk0")
        self.assertEqual(self.uri(pool="a:b"), "rbd:a\\:b/u.rbd.disk0")
        self.assertIn("needs one", self.refused(IUserspaceUri(self.store).uri(self.disk(), "xen-pvm")))

    def test_own_configuration(self) -> None:
        """A node with a configuration of Ceph of its own names it to the program, and to QEMU."""
        tools = RbdTools(self.runner, self.clock, "/srv/node1/ceph.conf")
        storage = RbdImages("rbd", tools, self.files, InlineThreads(), self.node.look)
        self.get(storage.create(self.disk()))
        self.assertEqual(self.runner.calls[-1].argv[:3], ("rbd", "--conf", "/srv/node1/ceph.conf"))
        uri = self.get(storage.uri(self.disk(), "kvm"))
        self.assertEqual(uri, "rbd:rbd/u.rbd.disk0:conf=\\/srv\\/node1\\/ceph.conf")

    def test_kernelspace(self) -> None:
        """What needs a device is refused, with what can be done."""
        self.create()
        disk = replace(self.disk(), params={"access": "kernelspace"})
        text = self.refused(self.tree.assemble(disk, True))
        self.assertIn("Module rbd not found", text)
        self.assertIn("load it, or let KVM do without (access=userspace)", text)
        self.assertFalse(self.get(self.store.is_ready(disk)))

    def test_module_is_loaded(self) -> None:
        """As soon as the kernel can, it has a device for what is made ready again."""
        self.create()
        self.assemble()
        self.node.kernel = True
        self.files.mkdir(KERNEL_BUS)
        self.assertFalse(self.get(self.store.is_ready(self.disk())))
        self.assertEqual(self.assemble().dev_path, "/dev/rbd0")

    def test_device_is_refused(self) -> None:
        """A kernel that has the module and makes no device is a fault, whoever opens the image."""
        self.create()
        self.files.mkdir(Path("/sys/bus/rbd"))
        self.assertIn("map failed", self.refused(self.tree.assemble(self.disk(), True)))


class RadosPoolsTests(PoolsContract):
    """Pools of Ceph."""

    def pools(self) -> RadosPools:
        """See `PoolsContract`."""
        self.node = CephNode(MemoryCeph())
        clock = Clock()
        return RadosPools(RbdTools(runner_of(self.node, clock), clock))

    def pool(self) -> str:
        """See `PoolsContract`."""
        return "rbd"

    def test_unusable(self) -> None:
        """One that is not there, and one of a cluster that does not answer."""
        self.assertIn("'slow'", self.get(self.rooms.fault("slow")) or "")
        self.assertIn("slow", self.refused(self.rooms.space("slow", {})))
        self.node.ceph.up = False
        self.assertIn("couldn't connect", self.get(self.rooms.fault("rbd")) or "")
        self.refused(self.rooms.space("rbd", {}))
