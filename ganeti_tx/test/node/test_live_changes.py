"""Node calls that change what runs, as they go over the wire, to a hypervisor that can and to one that cannot."""

from typing import Any

from attrs import define
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import BlockDeviceError, HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.node.instances import Instances
from ganeti_tx.node.live_changes import LiveChanges
from ganeti_tx.rpc.calls.hotplug import HotplugAction, HotplugDevice, HotplugSupported, InstanceBalloonMemory
from ganeti_tx.rpc.calls.instance import InstanceInfo
from ganeti_tx.test.node.disk_case import OWNER, DiskCase
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec

NIC = NicSpec(uuid="n0", mac="aa:00:00:00:00:01", mode="bridged", link="br0")


@define
class Rigid:
    """A hypervisor that changes nothing while it runs."""

    name: str = "chroot"

    async def info(self, instance_name: str) -> None:
        """Nothing runs under it."""


class LiveChangesTests(DiskCase):
    """The primary node of an instance that is only pretended."""

    def setUp(self) -> None:
        super().setUp()
        self.fake = FakeHypervisor(self.files[0], self.paths, self.clock.seconds)
        rigid: Any = Rigid()
        instances = Instances({"fake": self.fake, "chroot": rigid}, self.disks[0], "node1")
        self.nodes[0] = NodeDispatch(self.disks[0], instances, LiveChanges(instances))
        self.spec: InstanceSpec = replace(kvm_spec(name=OWNER), hypervisor="fake", hvparams={})
        self.successResultOf(Deferred.fromCoroutine(self.fake.start(self.spec, [])))

    def plug(self, action: HotplugAction, **device: Any) -> HotplugDevice:
        """A call about a device."""
        return HotplugDevice(instance=self.spec, action=action, index=0, **device)

    def running(self) -> Any:
        """What the guest has."""
        return self.fake._running(OWNER)

    def test_disk(self) -> None:
        """A disk that comes is made ready, without its stable name yet; one that goes stays ready until it is told otherwise."""
        self.create(0, self.file())
        for _ in range(2):
            self.call(0, self.plug(HotplugAction.ADD, disk=self.file()))
            self.assertEqual([*self.running().disks], [self.file().uuid])
            self.assertEqual(self.links(), {})
        for _ in range(2):
            self.call(0, self.plug(HotplugAction.REMOVE, disk=self.file()))
            self.assertEqual((self.running().disks, self.links()), ({}, {}))

    def test_missing_disk(self) -> None:
        """A disk that is not there does not come, and the guest has what it had."""
        self.refused(0, self.plug(HotplugAction.ADD, disk=self.file()), BlockDeviceError)
        self.assertEqual((self.running().disks, self.links()), ({}, {}))

    def test_interface(self) -> None:
        """An interface comes, is plugged anew as it is now, and goes."""
        self.call(0, self.plug(HotplugAction.ADD, nic=NIC))
        self.assertEqual(self.running().nics, {"n0": NIC})
        changed = replace(NIC, link="br1")
        self.call(0, self.plug(HotplugAction.MODIFY, nic=changed))
        self.assertEqual(self.running().nics, {"n0": changed})
        self.call(0, self.plug(HotplugAction.REMOVE, nic=NIC))
        self.assertEqual(self.running().nics, {})

    def test_memory(self) -> None:
        """What the guest has been given shows; more than it was started with is refused."""
        self.call(0, InstanceBalloonMemory(instance=self.spec, memory=100))
        seen = self.call(0, InstanceInfo(instance_name=OWNER, hypervisor="fake"))
        self.assertEqual(seen.memory, 100)
        self.assertIn("128", self.refused(0, InstanceBalloonMemory(instance=self.spec, memory=200), HypervisorError))

    def test_not_able(self) -> None:
        """A hypervisor that cannot is named, or told as such, before anything is done."""
        self.create(0, self.file())
        rigid = replace(self.spec, hypervisor="chroot")
        for call in (
            HotplugSupported(instance=rigid),
            HotplugDevice(instance=rigid, action=HotplugAction.ADD, index=0, disk=self.file()),
        ):
            self.assertIn("not supported by this hypervisor", self.refused(0, call, HypervisorError))
        self.assertIn("chroot", self.refused(0, InstanceBalloonMemory(instance=rigid, memory=100), HypervisorError))
        self.assertEqual(self.links(), {})

    def test_supported(self) -> None:
        """What runs can be changed; what does not run cannot."""
        self.call(0, HotplugSupported(instance=self.spec, disks=True, nics=True))
        self.successResultOf(Deferred.fromCoroutine(self.fake.stop(OWNER, 0.0)))
        self.assertIn("does not run", self.refused(0, HotplugSupported(instance=self.spec), HypervisorError))
