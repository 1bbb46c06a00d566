"""The KVM driver keeps the contract with a real QEMU; starts that fail leave nothing."""

import os
import signal
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.protocols.policies import WrappingFactory
from twisted.web.server import Site
from twisted.web.static import File

from ganeti_tx.bootstrap.keys import write_spice_keys
from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.ended_machines import EndedMachines
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, RunState
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.acceleration import Acceleration, AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.firmware import IMAGES, SECURE, FirmwareStore
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.node.hypervisor.kvm.process_owners import user_ids_in_use
from ganeti_tx.node.terms import Terms
from ganeti_tx.test.contracts.hypervisor import HypervisorContract
from ganeti_tx.test.node.hypervisor.kvm.parts import attached
from ganeti_tx.test.real.guest import QEMU
from ganeti_tx.test.real.kvm_node import KvmNode, display_port, thread_cpus, until

SECRET = "s3cr3t99"
OLD_MACHINE = "pc-i440fx-5.0"
SECURE_CODE = str(IMAGES / SECURE[0])
#: What a boot sector does to tell its machine that it panics: mov al,1; mov dx,0x505; out dx,al; hlt.
PANICS = bytes.fromhex("b001ba0505eef4")


class KvmTests(HypervisorContract):
    """Instances that never get further than their firmware, which also ignores the power button."""

    timeout = 300
    shown_with = "QEMU, which emulates the processor"
    node: KvmNode
    driver: KvmHypervisor

    async def prepare(self) -> None:
        """See `HypervisorContract`."""
        self.node = KvmNode()
        self.addCleanup(self.node.clear)

    def new_driver(self) -> KvmHypervisor:
        """See `HypervisorContract`."""
        return self.node.driver()

    def cdrom(self) -> dict[str, Any]:
        """See `HypervisorContract`."""
        return self.node.cdrom()

    def remains(self) -> list[str]:
        """See `HypervisorContract`."""
        return self.node.remains()

    def spec(self, name: str = "", **hvparams: Any) -> InstanceSpec:
        """See `HypervisorContract`; the node is not asked whether KVM works."""
        return super().spec(name, **{"kvm_flag": "disabled", **hvparams})

    async def fails(self, *said: str, disks: Sequence[AttachedDisk] = (), **hvparams: Any) -> None:
        """A start fails with one line that names the instance and says all this, and leaves nothing."""
        text = await self.refused(self.driver.start(self.spec(**hvparams), disks))
        for each in (self.name, *said):
            self.assertIn(each, text)
        self.assertEqual(self.remains(), [])
        self.assertIsNone(await self.driver.info(self.name))

    async def pid(self) -> int:
        """The process of the running instance."""
        info = await self.driver.info(self.name)
        assert info is not None
        return info.hv_id

    async def test_ignored_button(self) -> None:
        """A guest that ignores the button is cut off when its time is over."""
        await self.start()
        await self.driver.stop(self.name, 0.5)
        self.assertEqual(self.remains(), [])

    async def test_missing_kernel(self) -> None:
        """A kernel that is not on the node is told by its path."""
        await self.fails("/boot/no-such-kernel", kernel_path="/boot/no-such-kernel")

    async def test_bad_kernel(self) -> None:
        """A file that is no kernel ends QEMU, whose reason is told."""
        junk = self.node.top / "junk"
        junk.write_bytes(b"x" * 4096)
        await self.fails("QEMU did not start", kernel_path=str(junk))

    async def test_bad_disk(self) -> None:
        """A disk that is not there ends QEMU, whose reason is told."""
        await self.fails("/no/such/disk", disks=[attached(path="/no/such/disk")])

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
        await self.refused(self.driver.start(self.spec(kvm_path="/bin/true"), []))
        self.assertEqual(self.remains(), [])

    async def test_bad_mask(self) -> None:
        """Processors that this node does not have fail the start, and its QEMU is ended."""
        await self.fails("cpu_mask", cpu_mask="8191")

    async def test_bad_password(self) -> None:
        """A console password that cannot be read fails the start, and its QEMU is ended."""
        empty = self.node.top / "empty"
        empty.touch()
        text = await self.refused(
            self.driver.start(self.vnc_spec(vnc_bind_address="127.0.0.1", vnc_password_file=str(empty)), [])
        )
        self.assertIn(str(empty), text)
        self.assertEqual(self.remains(), [])

    def vnc_spec(self, **hvparams: Any) -> InstanceSpec:
        """An instance with a network port that nobody uses."""
        return msgspec.structs.replace(self.spec(**hvparams), network_port=display_port())

    async def test_password(self) -> None:
        """VNC asks for the password, which is neither in the arguments of QEMU nor in what the node remembers."""
        file = self.node.top / "password"
        file.write_text(SECRET + "\n")
        spec = self.vnc_spec(vnc_bind_address="127.0.0.1", vnc_password_file=str(file))
        await self.driver.start(spec, [])
        layout = self.node.layout(self.name)
        async with self.node.driver().monitors.open(layout.qmp) as client:
            self.assertEqual((await client.execute("query-vnc"))["auth"], "vnc")
        arguments = Path(f"/proc/{await self.pid()}/cmdline").read_bytes()
        self.assertNotIn(SECRET.encode(), arguments + layout.runtime.read_bytes())

    async def test_spice(self) -> None:
        """SPICE with TLS shows the cluster's certificate for it, which who has the authority's can check."""
        paths = self.node.paths
        paths.data_dir.mkdir(parents=True)
        write_spice_keys(paths, "cluster.example.com")
        await self.driver.start(spec := self.vnc_spec(spice_bind="127.0.0.1", spice_use_tls=True), [])
        assert spec.network_port is not None
        trust = ssl.create_default_context(cafile=str(paths.spice_ca_pem))

        def greet() -> str | None:
            with (
                socket.create_connection(("127.0.0.1", spec.network_port), 10) as plain,
                trust.wrap_socket(plain, server_hostname="cluster.example.com") as secure,
            ):
                return secure.version()

        self.assertIn("TLSv1", str(await deferToThread(greet)))

    async def test_bound_to_interface(self) -> None:
        """A display that is bound to an interface listens on its address, and the console says where."""
        for name, kind in (("vnc_bind_address", "vnc"), ("spice_bind", "spice")):
            spec = self.vnc_spec(serial_console=False, **{name: "lo"})
            await self.driver.start(spec, [])
            for driver in (self.driver, self.node.driver()):
                console = await driver.console(spec, "node1.example.com")
                self.assertEqual((console["kind"], console["host"]), (kind, "127.0.0.1"))
            (await deferToThread(socket.create_connection, ("127.0.0.1", spec.network_port), 10)).close()
            await self.driver.stop(self.name, 0.0, force=True)
        text = await self.refused(self.driver.start(self.vnc_spec(vnc_bind_address="nosuch0"), []))
        self.assertIn("vnc_bind_address: nosuch0", text)

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

    def write_uid_pool(self) -> None:
        """Many ids, as no two instances of this whole system get the same."""
        if os.getuid() != 0:
            self.skipTest("only root may become another user")
        self.node.paths.ssconf_file("uid_pool").parent.mkdir(parents=True)
        self.node.paths.ssconf_file("uid_pool").write_text("61000-61999\n")

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

    async def test_killed(self) -> None:
        """An instance whose QEMU was killed is not there; it can be stopped and started again."""
        spec = await self.start()
        os.kill(await self.pid(), signal.SIGKILL)
        await until(lambda: not self.node.processes())
        self.assertIsNone(await self.driver.info(self.name))
        self.assertEqual(await self.driver.list_instances(), [])
        self.assertNotEqual(self.remains(), [])
        await self.driver.start(spec, [])
        os.kill(await self.pid(), signal.SIGKILL)
        await until(lambda: not self.node.processes())
        await self.driver.stop(self.name, 100_000.0)
        self.assertEqual(self.remains(), [])

    async def test_ended_by_itself(self) -> None:
        """What a machine leaves that has ended is removed by the daemon, also if it was not there at that time."""
        for watched_before in (True, False):
            driver = self.node.driver()
            machines = EndedMachines({"kvm": driver}, CallOrder(Terms(self.node.files, self.node.paths)))
            if watched_before:
                machines.watch()
            await driver.start(self.spec(), [])
            os.kill(await self.pid(), signal.SIGKILL)
            await until(lambda: not self.node.processes())
            if not watched_before:
                self.assertNotEqual(self.remains(), [])
                machines.watch()
            await until(lambda: self.remains() == [])

    async def test_halted(self) -> None:
        """A guest that QEMU has stopped after an error is told from one that runs, and nobody waits for its power button."""
        disk = self.node.top / "disk"
        disk.write_bytes(PANICS.ljust(510, b"\0") + b"\x55\xaa")
        os.truncate(disk, 1 << 20)  # the firmware boots from no disk of one sector
        extra = "-device pvpanic -action panic=pause"
        await self.driver.start(self.spec(kvm_extra=extra), [attached(path=str(disk))])
        seen = await self.driver.info(self.name)
        while seen is not None and seen.state is not RunState.HALTED:
            await deferLater(self.node.clock, 0.05)
            seen = await self.driver.info(self.name)
        assert seen is not None
        self.assertEqual(seen.why, "guest-panicked")
        await self.driver.stop(self.name, 100_000.0)
        self.assertEqual(self.remains(), [])

    async def test_firmware(self) -> None:
        """UEFI with secure boot has variables of its own, which are as they were after a restart; a TPM ends with its machine."""
        store = FirmwareStore(self.node.paths, self.spec().uuid)
        values: dict[str, Any] = {
            "uefi": True,
            "secure_boot": True,
            "tpm": True,
            "machine_version": "q35",
            "use_chroot": True,
        }
        try:
            spec = await self.start(paused=True, **values)
        except HypervisorError as error:
            if "install" in str(error):
                self.skipTest(str(error))
            raise
        async with self.node.driver().monitors.open(self.node.layout(self.name).qmp) as client:
            (tpm,) = await client.execute("query-tpm")
            blocks = {each["device"]: each["inserted"] for each in await client.execute("query-block")}
        self.assertEqual((tpm["model"], tpm["options"]["type"]), ("tpm-crb", "emulator"))
        flash = [blocks[name] for name in ("pflash0", "pflash1")]
        self.assertEqual(
            [(each["file"], each["ro"]) for each in flash], [(SECURE_CODE, True), (str(store.variables), False)]
        )
        self.assertEqual(len(self.node.processes()), 2)
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])
        before = store.variables.read_bytes()
        store.variables.write_bytes(bytes(len(before)))
        await self.driver.start(spec, [])
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertNotEqual(store.variables.read_bytes(), before)
        await self.driver.forget(spec)
        self.assertFalse(store.directory.exists())

    async def test_hung(self) -> None:
        """A QEMU that hangs still counts as running, and is killed by a stop."""
        await self.start()
        os.kill(await self.pid(), signal.SIGSTOP)
        info = await self.driver.info(self.name)
        assert info is not None
        self.assertEqual(info.state, RunState.RUNNING)
        await self.driver.stop(self.name, 1.0, force=True)
        self.assertEqual(self.remains(), [])

    async def test_foreign_pid(self) -> None:
        """A pid file that names somebody else's process is no instance, and that process is left alone."""
        layout = self.node.layout(self.name)
        layout.pid.parent.mkdir(parents=True)
        layout.pid.write_text(f"{os.getpid()}\n")
        self.assertIsNone(await self.driver.info(self.name))
        await self.driver.stop(self.name, 1.0)
        self.assertEqual(self.remains(), [])

    async def test_paused_state(self) -> None:
        """After a paused start the guest has not run an instruction."""
        await self.start(paused=True)
        async with self.node.driver().monitors.open(self.node.layout(self.name).qmp) as client:
            self.assertEqual((await client.execute("query-status"))["status"], "prelaunch")

    async def test_exit_on_reboot(self) -> None:
        """An instance that ends on reboot is started anew by one, as the same machine, though a start would make another one."""
        spec = await self.start(reboot_behavior="exit", machine_version=OLD_MACHINE)
        before, layout = await self.pid(), self.node.layout(self.name)
        await self.driver.reboot(self.spec(reboot_behavior="exit"), [])
        self.assertNotEqual(await self.pid(), before)
        state = states.load(self.node.files, layout)
        assert state is not None
        self.assertEqual(state.machine, OLD_MACHINE)
        await self.driver.stop(self.name, 0.0, force=True)
        await self.driver.start(msgspec.structs.replace(spec, hvparams=self.spec().hvparams), [])
        state = states.load(self.node.files, layout)
        assert state is not None
        self.assertNotIn(state.machine, ("", "pc", OLD_MACHINE))

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
        async with self.node.driver().monitors.open(self.node.layout(self.name).qmp) as client:
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
