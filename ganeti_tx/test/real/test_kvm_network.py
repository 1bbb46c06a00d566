"""Instances on a real bridge: taps made, used by QEMU and removed, in a network namespace of their own."""

import os
import signal
from typing import Any

import msgspec
from attrs import define
from twisted.trial.unittest import SkipTest

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.model.migration import MigrationState
from ganeti_tx.node.hypervisor.kvm.host_devices import LinuxHostDevices
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, NIC, kvm_spec
from ganeti_tx.test.real.guest import make_guest
from ganeti_tx.test.real.kvm_node import KvmNode, SerialConsole, until
from ganeti_tx.test.real.namespaces import NamespaceCase, NamespaceRunner


@define
class NamespaceDevices(LinuxHostDevices):
    """Opens taps inside a network namespace."""

    place: NamespaceRunner

    def open_tap(self, name: str, vnet_hdr: bool, multi_queue: bool) -> int:
        """See `IHostDevices`."""
        opening = super().open_tap
        return self.place.inside(lambda: opening(name, vnet_hdr, multi_queue))


class TapTests(NamespaceCase):
    """A node whose network has one bridge."""

    timeout = 300

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        self.runner = await self.new_namespace("h")
        bridge = await self.runner.run(["ip", "link", "add", "br0", "type", "bridge"])
        if not bridge.succeeded:
            raise SkipTest(f"no bridge can be made: {bridge.describe()}")
        self.node = KvmNode(runner=self.runner)
        self.addCleanup(self.node.clear)
        self.driver = self.node.driver()
        self.driver.plugging.nics.host = NamespaceDevices(self.runner)

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

    async def test_unreadable(self) -> None:
        """The tap goes also when nothing can be read of its instance, so that there is room for it at the next start."""
        for _ in range(2):
            self.assertIn("master br0", await self.start())
            self.node.layout(NAME).runtime.write_bytes(b"garbage")
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
        routed = msgspec.structs.replace(NIC, mode="routed", link="100", ip="192.0.2.77")
        rules = await self.runner.does("ip rule")
        for nic, extra in ((NIC, "-no-such-option"), (other, ""), (routed, "-no-such-option")):
            with self.assertRaises(HypervisorError):
                await self.start(nic, kvm_extra=extra)
            self.assertEqual((await self.taps(), self.node.remains()), ("", []))
            self.assertEqual(await self.runner.does("ip rule"), rules)

    async def test_routed(self) -> None:
        """The rule and the route are there as long as the guest is, and go with what it leaves when it ends by itself."""
        routed = msgspec.structs.replace(NIC, mode="routed", link="100", ip="192.0.2.77")
        taps = await self.start(routed)
        name = (self.node.layout(NAME).nic_dir / "0").read_text()
        self.assertIn(f" {name}:", taps)
        self.assertIn(f"iif {name} lookup 100", await self.runner.does("ip rule"))
        self.assertIn(f"192.0.2.77 dev {name}", await self.runner.does("ip route show table 100"))
        for pid in self.node.processes():
            os.kill(pid, signal.SIGKILL)
        await until(lambda: not self.node.processes())
        await self.stopped()
        self.assertNotIn(name, await self.runner.does("ip rule"))

    async def test_plugged(self) -> None:
        """An interface that comes while a guest runs carries its packets, on another bridge when it comes again."""
        guest = await make_guest()
        for number in (0, 1):
            bridge = f"br{number}"
            if number:
                await self.runner.run(["ip", "link", "add", bridge, "type", "bridge"])
            await self.runner.run(["ip", "address", "add", f"192.0.{number + 2}.1/24", "dev", bridge])
            await self.runner.run(["ip", "link", "set", bridge, "up"])
        for hvparams in ({}, {"virtio_net_queues": 2}, {"vnet_hdr": False}):
            kernel: dict[str, Any] = {"kernel_path": str(guest / "vmlinux"), "initrd_path": str(guest / "initrd.img")}
            spec = kvm_spec([], vcpus=2, **{**kernel, "kernel_args": "quiet", "kvm_flag": "disabled", **hvparams})
            await self.driver.start(spec, [])
            console = await SerialConsole.of(self.node.layout(NAME))
            await console.wait_for(b"/ # ")
            for number in (0, 1):
                nic = msgspec.structs.replace(NIC, link=f"br{number}")
                await self.driver.plug_nic(spec, nic, 0)
                self.assertIn(f"master br{number}", await self.taps())
                name = (self.node.layout(NAME).nic_dir / "0").read_text()
                self.assertIn(f" {name}:", await self.taps())
                address = f"192.0.{number + 2}"
                console.type(b"until [ -e /sys/class/net/eth0 ]; do sleep 0.1; done; ip link set eth0 up")
                console.type(f"ip address add {address}.2/24 dev eth0; ping -c 1 -w 30 {address}.1".encode())
                await console.wait_for(f"from {address}.1".encode())
                await self.driver.unplug_nic(spec, nic)
                self.assertEqual((await self.taps(), [*self.node.layout(NAME).nic_dir.iterdir()]), ("", []))
            assert console.transport is not None
            console.transport.loseConnection()
            await console.closed
            await self.stopped()

    async def test_migrated(self) -> None:
        """While a guest is on its way its new node has the tap, but no way to it; that is there when the guest is."""
        other = KvmNode(runner=self.runner)
        self.addCleanup(other.clear)
        new = other.driver()
        routed = msgspec.structs.replace(NIC, mode="routed", link="100", ip="192.0.2.77")
        spec = kvm_spec([routed], vcpus=1, kvm_flag="disabled", migration_port=4321)
        await self.driver.start(spec, [])
        taps = [node.layout(NAME).nic_dir / "0" for node in (self.node, other)]

        async def ways() -> list[bool]:
            """On each of the nodes, whether there is one to the guest."""
            rules = await self.runner.does("ip rule")
            return [tap.exists() and f"iif {tap.read_text()} lookup 100" in rules for tap in taps]

        await new.accept(spec, [], await self.driver.migration_info(spec), "127.0.0.1")
        self.assertEqual((await ways(), len((await self.taps()).splitlines())), ([True, False], 2))
        await self.driver.send(spec, "127.0.0.1", True)
        while (told := await self.driver.migration_progress(NAME, 1.0)).status is MigrationState.ACTIVE:
            pass
        self.assertIs(told.status, MigrationState.COMPLETED, told)
        for _ in range(2):
            await new.take_over(NAME)
        self.assertEqual(await ways(), [True, True])
        await self.driver.leave_source(NAME)
        self.assertEqual(await ways(), [False, True])
        await new.stop(NAME, 0.0, force=True)
        self.assertEqual((await self.taps(), await ways(), other.remains()), ("", [False, False], []))

    async def test_reached(self) -> None:
        """A routed guest reaches a neighbour of its node, which reaches it; over its other interface it reaches the node alone."""
        guest = await make_guest()
        outside = await self.new_neighbour(self.runner, "o", "eth0")
        await self.runner.does("ip address add 192.0.2.1/24 dev eth0")
        await outside.does("ip address add 192.0.2.9/24 dev eth0")
        await self.runner.does("sysctl -qw net.ipv4.ip_forward=1")
        routed = msgspec.structs.replace(NIC, mode="routed", link="", ip="192.0.2.77")
        talk = msgspec.structs.replace(routed, uuid="n1", mac="52:54:00:00:00:01", ip="169.254.7.9", communication=True)
        kernel: dict[str, Any] = {"kernel_path": str(guest / "vmlinux"), "initrd_path": str(guest / "initrd.img")}
        spec = kvm_spec([routed, talk], vcpus=1, **kernel, kernel_args="quiet", kvm_flag="disabled")
        await self.driver.start(spec, [])
        for nic in (routed, talk):
            self.assertIn(
                f" dev {await self.driver.interface_to(spec, nic)} ", await self.runner.does(f"ip route get {nic.ip}")
            )
        self.assertIn(" gnt.com.", await self.taps())
        console = await SerialConsole.of(self.node.layout(NAME))
        await console.wait_for(b"/ # ")
        console.type(b"ip link set eth0 up; ip address add 192.0.2.77/32 dev eth0; ip route add default dev eth0")
        console.type(b"ip link set eth1 up; ip address add 169.254.7.9/16 dev eth1")
        for address in ("192.0.2.9", "169.254.169.254"):
            console.type(f"ping -c 1 -w 30 {address}".encode())
            await console.wait_for(f"from {address}".encode())
        await outside.does("busybox ping -c 1 -w 30 192.0.2.77")
        assert console.transport is not None
        console.transport.loseConnection()
        await console.closed
        await self.stopped()
        self.assertEqual((await self.runner.does("ip -4 neigh show proxy")), "")
        self.assertNotIn("169.254", await self.runner.does("ip -4 address"))

    async def test_failed_plug(self) -> None:
        """An interface that cannot be connected leaves neither tap nor device, and the instance runs on."""
        await self.driver.start(spec := kvm_spec([], vcpus=1, kvm_flag="disabled"), [])
        script = self.node.paths.conf_dir / "kvm-vif-bridge"
        script.write_text("#!/bin/sh\necho no cable >&2; exit 1\n")
        script.chmod(0o755)
        for nic, why in ((msgspec.structs.replace(NIC, link="br9"), "br9"), (NIC, "no cable")):
            with self.assertRaises(HypervisorError) as caught:
                await self.driver.plug_nic(spec, nic, 0)
            self.assertIn(why, str(caught.exception))
            self.assertEqual(await self.taps(), "")
        script.unlink()
        await self.driver.plug_nic(spec, NIC, 0)
        self.assertIn("master br0", await self.taps())
        await self.stopped()
