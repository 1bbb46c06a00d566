"""The KVM driver keeps the contract with a real QEMU; starts that fail leave nothing."""

import os
from pathlib import Path
from typing import Any

from twisted.internet.task import deferLater
from twisted.protocols.policies import WrappingFactory
from twisted.web.server import Site
from twisted.web.static import File

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.acceleration import Acceleration, AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.process_owners import user_ids_in_use
from ganeti_tx.test.contracts.hypervisor import HypervisorContract
from ganeti_tx.test.node.hypervisor.kvm.parts import attached
from ganeti_tx.test.real.guest import QEMU
from ganeti_tx.test.real.kvm_case import KvmCase
from ganeti_tx.test.real.kvm_node import thread_cpus


class KvmTests(KvmCase, HypervisorContract):
    """Starts, right ones and wrong ones."""

    shown_with = "QEMU, which emulates the processor"

    async def test_missing_kernel(self) -> None:
        """A kernel that is not on the node is told by its path."""
        await self.fails("/boot/no-such-kernel", kernel_path="/boot/no-such-kernel")

    async def test_bad_kernel(self) -> None:
        """A file that is no kernel ends QEMU, whose reason is told."""
        junk = self.node.top / "junk"
        junk.write_bytes(b"x" * 4096)
        await self.fails("QEMU did not start", kernel_path=str(junk))

    async def test_bad_disk(self) -> None:
        """A disk that is not there ends QEMU, whose reason is told, whatever its log says from before."""
        for path in ("/no/such/disk", "/no/such/disk", "/no/disk", "/no/disk-with-a-longer-name"):
            await self.fails(f"'{path}': No such file", disks=[attached(path=path)])

    async def test_bad_extra(self) -> None:
        """Arguments that QEMU does not know, and such as are no arguments at all."""
        await self.fails("-no-such-option", kvm_extra="-no-such-option")
        await self.fails_to_plan(kvm_extra="'open")

    async def fails_to_plan(self, **hvparams: Any) -> None:
        """A start fails before anything is done."""
        await self.refused(self.driver.start(self.spec(**hvparams), []))
        self.assertEqual(self.remains(), [])

    async def test_bad_program(self) -> None:
        """A program that is not there, or is not QEMU."""
        await self.fails("/no/qemu is not on this node", kvm_path="/no/qemu")
        await self.fails("QEMU did not start", kvm_path="/bin/false")

    async def test_not_a_daemon(self) -> None:
        """A program that ends well and leaves no QEMU is a failed start."""
        spec = self.spec(kvm_path="/bin/true")
        await self.refused(self.driver.start(spec, []))
        self.assertIn("kvm_path: /bin/true is no QEMU", await self.refused(self.driver.validate(spec.hvparams)))
        self.assertEqual(self.remains(), [])

    async def test_bad_mask(self) -> None:
        """Processors that this node does not have fail the start."""
        await self.fails("cpu_mask", cpu_mask="8191")

    async def test_pinned(self) -> None:
        """With one mask all of QEMU runs on those processors only; with one for each virtual processor the rest runs anywhere."""
        await self.start(cpu_mask="0")
        pid = await self.pid()
        self.assertEqual(thread_cpus(pid, "CPU 0/"), [{0}])
        self.assertEqual(os.sched_getaffinity(pid), {0})
        await self.driver.stop(self.name, 0.0, force=True)
        spec = self.spec(cpu_mask="0:all")
        spec.beparams.update(vcpus=2)
        await self.driver.start(spec, [])
        pid = await self.pid()
        anywhere = os.sched_getaffinity(0)
        self.assertEqual([thread_cpus(pid, f"CPU {number}/") for number in (0, 1)], [[{0}], [anywhere]])
        self.assertEqual(os.sched_getaffinity(pid), anywhere)

    async def test_confined(self) -> None:
        """With a user of its own and a root of its own QEMU has both, and both are free again afterwards."""
        self.write_uid_pool()
        await self.start(security_model="pool", use_chroot=True)
        pid = await self.pid()
        status = Path(f"/proc/{pid}/status").read_text()
        (uid,) = os.listdir(self.node.paths.uid_pool_dir)
        self.assertIn(f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}", status)
        self.assertIn(int(uid), user_ids_in_use())
        self.assertEqual(os.readlink(f"/proc/{pid}/root"), str(self.node.layout(self.name).chroot))
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])

    async def test_guarded_user(self) -> None:
        """A start that fails gives its user back."""
        self.write_uid_pool()
        await self.fails("cpu_type host needs KVM", security_model="pool", cpu_type="host")
        await self.fails("/no/such/disk", disks=[attached(path="/no/such/disk")], security_model="pool")
        self.assertEqual(os.listdir(self.node.paths.uid_pool_dir), [])

    async def test_types(self) -> None:
        """A type that QEMU does not know is refused by validation; flags are no part of it."""
        for known in ({"cpu_type": "max,+vmx"}, {"cpu_type": "qemu64,-svm"}, {"machine_version": "q35"}):
            await self.driver.validate(self.spec(**known).hvparams)
        wrong = self.spec(cpu_type="qemu46,+vmx", machine_version="pc-i440fx-0.1").hvparams
        text = await self.refused(self.driver.validate(wrong))
        self.assertIn("machine_version: 'pc-i440fx-0.1' is not known to /", text)
        self.assertRegex(text, "; cpu_type: 'qemu46' is not known to .*; known are .*qemu64.*, and [0-9]+ more$")

    async def test_names(self) -> None:
        """So are a keymap, a device for USB, and an interface that are not there."""
        good = {"keymap": "en-gb", "usb_devices": "tablet usb-kbd", "vnc_bind_address": "lo"}
        await self.driver.validate(self.spec(**good).hvparams)
        for name, wrong in (("keymap", "xx"), ("usb_devices", "usb-tablett"), ("vnc_bind_address", "eth99")):
            with self.assertRaises(HypervisorError) as caught:
                await self.driver.validate(self.spec(**{**good, name: wrong}).hvparams)
            self.assertRegex(str(caught.exception), f"^{name}: .*{wrong}")

    async def test_paused_state(self) -> None:
        """After a paused start the guest has not run an instruction."""
        await self.start(paused=True)
        async with self.node.driver().machines.monitor(self.node.layout(self.name)) as client:
            self.assertEqual((await client.execute("query-status"))["status"], "prelaunch")

    async def test_cdrom_from_the_web(self) -> None:
        """QEMU reads a CD-ROM by its URL; without the package for that the error names it."""
        await self.fails("boot_order: there is no cdrom", boot_order="cdrom")
        await self.fails("cdrom_image_path: nfs:// is none of http://, https://", cdrom_image_path="nfs://host/x")
        await self.fails("would show the password", cdrom_image_path="http://user:word@host/x")
        images = self.node.top / "images"
        images.mkdir()
        (images / "first.iso").write_bytes(bytes(1 << 20))
        site = WrappingFactory(Site(File(str(images))))
        served = self.node.reactor.listenTCP(0, site, interface="127.0.0.1")
        self.addCleanup(self.hang_up, site)
        self.addCleanup(served.stopListening)
        url = f"http://127.0.0.1:{served.getHost().port}/first.iso"
        try:
            await self.start(paused=True, cdrom_image_path=url)
        except HypervisorError as error:
            self.assertIn("install qemu-block-extra", str(error))
            return
        async with self.node.driver().machines.monitor(self.node.layout(self.name)) as client:
            blocks = {each["device"]: each["inserted"]["image"] for each in await client.execute("query-block")}
        self.assertEqual(blocks["cdrom0"]["virtual-size"], 1 << 20)

    async def hang_up(self, site: WrappingFactory) -> None:
        """QEMU, which keeps its connections, may not have ended yet."""
        for connection in list(site.protocols):
            connection.abortConnection()
        while site.protocols:
            await deferLater(self.node.reactor, 0.01)

    async def test_acceleration(self) -> None:
        """The probe guest runs under TCG; whether under KVM, it tells in time, and again without running."""
        probe = AccelerationProbe(self.node.paths, self.node.files, self.node.runner)
        self.assertTrue(await probe.works(QEMU, Acceleration.TCG))
        chosen = await probe.choose(QEMU)
        nobody: Any = None
        self.assertEqual(await AccelerationProbe(self.node.paths, self.node.files, nobody).choose(QEMU), chosen)
        self.assertEqual(self.remains(), [])
