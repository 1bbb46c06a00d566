"""Instances on a real bridge: taps made, used by QEMU and removed, in a network namespace of their own."""

import os
from collections.abc import Sequence
from shutil import which
from typing import Any

import msgspec
from attrs import define
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SkipTest, TestCase
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.runtime.process import IProcessRunner, ProcessResult
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, NIC, kvm_spec
from ganeti_tx.test.real.kvm_node import KvmNode


@implementer(IProcessRunner)
@define
class NamespaceRunner:
    """Runs everything inside a network namespace."""

    inner: ReactorProcessRunner
    namespace: str

    def run(self, argv: Sequence[str], **options: Any) -> Deferred[ProcessResult]:
        """See `IProcessRunner`."""
        return self.inner.run(["ip", "netns", "exec", self.namespace, *argv], **options)

    def run_detached(self, argv: Sequence[str], **options: Any) -> int:
        """See `IProcessRunner`."""
        return self.inner.run_detached(["ip", "netns", "exec", self.namespace, *argv], **options)


class TapTests(TestCase):
    """A node whose network has one bridge."""

    timeout = 120

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        if os.getuid() != 0 or which("ip") is None:
            raise SkipTest("network namespaces need root and the program ip")
        outside = ReactorProcessRunner(reactor, reactor)
        namespace = f"hv{os.getpid()}"
        made = await outside.run(["ip", "netns", "add", namespace])
        if not made.succeeded:
            raise SkipTest(f"no network namespace can be made: {made.describe()}")
        self.addCleanup(outside.run, ["ip", "netns", "delete", namespace])
        self.runner = NamespaceRunner(outside, namespace)
        bridge = await self.runner.run(["ip", "link", "add", "br0", "type", "bridge"])
        if not bridge.succeeded:
            raise SkipTest(f"no bridge can be made: {bridge.describe()}")
        self.node = KvmNode(runner=self.runner)
        self.addCleanup(self.node.clear)
        self.driver = self.node.driver()

    async def taps(self) -> str:
        """The taps that are there, with their bridges."""
        return (await self.runner.run(["ip", "-o", "link", "show", "type", "tun"])).stdout.decode()

    async def start(self, nic: NicSpec = NIC, **hvparams: Any) -> str:
        """Start an instance; the taps that are there then."""
        await self.driver.start(kvm_spec([nic], vcpus=1, **{"kvm_flag": "disabled", **hvparams}), [])
        return await self.taps()

    async def stopped(self) -> None:
        """After a stop nothing is left."""
        await self.driver.stop(NAME, 0.0, force=True)
        self.assertEqual((await self.taps(), self.node.remains()), ("", []))

    async def test_bridged(self) -> None:
        """The tap is on the bridge while the instance runs; its name is in the instance's files."""
        for hvparams in ({}, {"virtio_net_queues": 2}, {"vnet_hdr": False}, {"nic_type": "e1000"}):
            taps = await self.start(**hvparams)
            self.assertIn("master br0", taps)
            name = (self.node.layout(NAME).nic_dir / "0").read_text()
            self.assertIn(f" {name}:", taps)
            await self.stopped()

    async def test_vlan(self) -> None:
        """The tap is in its VLAN and no longer in the default one."""
        filtering = await self.runner.run(["ip", "link", "set", "br0", "type", "bridge", "vlan_filtering", "1"])
        if not filtering.succeeded:
            raise SkipTest(f"this kernel's bridges know no VLANs: {filtering.describe()}")
        await self.start(msgspec.structs.replace(NIC, vlan=".5:6"))
        name = (self.node.layout(NAME).nic_dir / "0").read_text()
        shown = await self.runner.run(["bridge", "vlan", "show", "dev", name])
        self.assertEqual([word for word in shown.stdout.decode().split() if word.isdigit()], ["5", "6"])
        await self.stopped()

    async def test_failed_start(self) -> None:
        """A start that fails leaves no tap, whether QEMU or the bridge is to blame."""
        other = msgspec.structs.replace(NIC, link="br9")
        for nic, extra in ((NIC, "-no-such-option"), (other, "")):
            with self.assertRaises(HypervisorError):
                await self.start(nic, kvm_extra=extra)
            self.assertEqual((await self.taps(), self.node.remains()), ("", []))
