"""How machines of a real QEMU end, stand still, hang, and begin anew; nothing is left of those that have ended."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.task import deferLater

from ganeti_tx.model.hypervisor import ConsoleKind
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.ended_machines import EndedMachines
from ganeti_tx.node.hypervisor.interfaces import RunState
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.human_monitor import HumanMonitor
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient, QmpSilent
from ganeti_tx.node.terms import Terms
from ganeti_tx.test.contracts.hypervisor_case import MEMORY
from ganeti_tx.test.node.hypervisor.kvm.parts import attached
from ganeti_tx.test.real.kvm_case import KvmCase
from ganeti_tx.test.real.kvm_node import until

OLD_MACHINE = "pc-i440fx-5.0"
#: What a boot sector does to tell its machine that it panics: mov al,1; mov dx,0x505; out dx,al; hlt.
PANICS = bytes.fromhex("b001ba0505eef4")


class KvmEndTests(KvmCase):
    """By themselves, by others, or by a stop."""

    async def test_ignored_button(self) -> None:
        """A guest that ignores the button is cut off when its time is over."""
        await self.start()
        await self.driver.stop(self.name, 0.5)
        self.assertEqual(self.remains(), [])

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

    async def test_hung(self) -> None:
        """A QEMU that hangs still counts as running, and is killed by a stop."""
        await self.start()
        os.kill(await self.pid(), signal.SIGSTOP)
        info = await self.driver.info(self.name)
        assert info is not None
        self.assertEqual(info.state, RunState.RUNNING)
        await self.driver.stop(self.name, 1.0, force=True)
        self.assertEqual(self.remains(), [])

    async def test_busy_socket(self) -> None:
        """A guest whose QMP socket somebody keeps busy hears of the power button all the same, and its QEMU is told to end."""
        await self.start()

        async def busy(path: Path) -> QmpClient:
            raise QmpSilent("nothing came")

        async with self.node.driver().machines.monitor(self.node.layout(self.name)) as other:
            pressed, ended = (other.next_event(name, 30.0) for name in ("POWERDOWN", "SHUTDOWN"))
            self.patch(self.driver.machines.monitors, "connect", busy)
            self.assertIsNone(await self.driver.stop(self.name, 0.5))
            await pressed
            self.assertEqual((await ended).data["reason"], "host-qmp-quit")
        self.assertEqual(self.remains(), [])

    async def test_never_asked(self) -> None:
        """Where the guest can be told by no way, that is said."""
        await self.start()

        async def busy(*asked: Any) -> Any:
            raise QmpSilent("nothing came")

        self.patch(self.driver.machines.monitors, "connect", busy)
        self.patch(HumanMonitor, "say", busy)
        said = await self.driver.stop(self.name, 0.5)
        self.assertIn("its guest could not be asked to power off: nothing came", said or "")
        self.assertEqual(self.remains(), [])

    async def test_foreign_pid(self) -> None:
        """A pid file that names somebody else's process is no instance, and that process is left alone."""
        layout = self.node.layout(self.name)
        layout.pid.parent.mkdir(parents=True)
        layout.pid.write_text(f"{os.getpid()}\n")
        self.assertIsNone(await self.driver.info(self.name))
        await self.driver.stop(self.name, 1.0)
        self.assertEqual(self.remains(), [])

    async def test_spoiled_pid_file(self) -> None:
        """One whose pid file was removed, or written over, still runs: nothing is started beside it, and a stop ends it."""
        spoils: tuple[Callable[[Path], object], ...] = (
            Path.unlink,
            lambda path: path.write_text(""),
            lambda path: path.write_text("garbage " * 100),
            lambda path: path.write_text(f"{os.getpid()}\n"),
        )
        for spoil in spoils:
            spec = await self.start()
            before = await self.pid()
            spoil(self.node.layout(self.name).pid)
            self.assertEqual(await self.pid(), before)
            driver = self.node.driver()
            self.assertEqual([seen.hv_id for seen in await driver.list_instances()], [before])
            await driver.clear_ended(self.name)
            self.assertIn("runs already", await self.refused(driver.start(spec, [])))
            await driver.reboot(spec, [])
            await driver.stop(self.name, 0.0, force=True)
            self.assertEqual((self.node.processes(), self.remains()), ([], []))

    async def test_unreadable_state(self) -> None:
        """One of which nothing can be read runs, says what mends that, and ends by a stop; a start takes no heed of it."""
        runtime = self.node.layout(self.name).runtime
        for garbage in (b"garbage", b"{}", b""):
            spec = await self.start()
            before = await self.pid()
            runtime.write_bytes(garbage)
            [seen] = await self.driver.list_instances()
            self.assertEqual((seen.hv_id, seen.state, seen.memory), (before, RunState.RUNNING, MEMORY))
            for said in (seen.why, await self.refused(self.driver.migration_side(self.name))):
                self.assertIn(f"cannot read {runtime}", said)
                self.assertIn(f"'gnt-instance reboot --type=hard {self.name}'", said)
            self.assertTrue(seen.why.startswith("cannot read"))
            self.assertIsNone(await self.driver.owner(self.name, other_than="another"))
            self.assertEqual((await self.driver.console(spec)).kind, ConsoleKind.SSH)
            await self.driver.clear_ended(self.name)
            self.assertIn("runs already", await self.refused(self.driver.start(spec, [])))
            self.assertEqual(await self.pid(), before)
            await self.driver.stop(self.name, 0.0, force=True)
            self.assertEqual((self.node.processes(), self.remains()), ([], []))
        for clears in (self.driver.clear_ended(self.name), self.driver.start(self.spec(), [])):
            runtime.write_bytes(b"garbage")
            await clears
        anew = await self.driver.info(self.name)
        assert anew is not None
        self.assertEqual(anew.why, "")

    async def test_both_files_spoiled(self) -> None:
        """Nothing is started beside one of which neither the pid file nor the runtime file can be read, nor cleared away."""
        spoils: tuple[Callable[[Path], object], ...] = (Path.unlink, lambda path: path.write_text(""))
        for spoil in spoils:
            spec = await self.start()
            before = await self.pid()
            spoil(self.node.layout(self.name).pid)
            self.node.layout(self.name).runtime.write_bytes(b"")
            self.assertEqual([seen.hv_id for seen in await self.driver.list_instances()], [before])
            await self.driver.clear_ended(self.name)
            self.assertIn("runs already", await self.refused(self.driver.start(spec, [])))
            self.assertEqual(self.node.processes(), [before])
            await self.driver.stop(self.name, 0.0, force=True)
            self.assertEqual((self.node.processes(), self.remains()), ([], []))

    async def test_exit_on_reboot(self) -> None:
        """An instance that ends on reboot is started anew by one, as the same machine, though a start would make another one."""
        spec = await self.start(reboot_behavior="exit", machine_version=f"{OLD_MACHINE},usb=off")
        before, layout = await self.pid(), self.node.layout(self.name)
        await self.driver.reboot(self.spec(reboot_behavior="exit", machine_version="pc,usb=off"), [])
        self.assertNotEqual(await self.pid(), before)
        state = states.load(self.node.files, layout)
        assert state is not None
        self.assertEqual(state.machine, OLD_MACHINE)
        self.assertIn(f"{OLD_MACHINE},usb=off", state.argv)
        await self.driver.stop(self.name, 0.0, force=True)
        await self.driver.start(msgspec.structs.replace(spec, hvparams=self.spec().hvparams), [])
        state = states.load(self.node.files, layout)
        assert state is not None
        self.assertNotIn(state.machine, ("", "pc", OLD_MACHINE))

    async def test_cannot_begin_anew(self) -> None:
        """One that could not be started again is not ended for that, and says why."""
        await self.start(reboot_behavior="exit")
        before = await self.pid()
        wrong: dict[str, dict[str, Any]] = {
            "cpu_type host needs KVM": {"cpu_type": "host"},
            "cpu_mask: '0:0:0' has 3 masks for 1": {"cpu_mask": "0:0:0"},
            "cpu_mask: '8191' names no processor": {"cpu_mask": "8191"},
            "there is no user 'ghost'": {"security_model": "user", "security_domain": "ghost"},
            "cpu_type: 'nosuch' is not known": {"cpu_type": "nosuch"},
        }
        for said, params in wrong.items():
            spec = self.spec(reboot_behavior="exit", **params)
            self.assertIn(said, await self.refused(self.driver.reboot(spec, [])))
            self.assertIn(said, await self.refused(self.driver.check_start(spec)))
        self.assertEqual(await self.pid(), before)
