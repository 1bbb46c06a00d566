"""UEFI and a TPM of a real QEMU, and what of them outlives its runs."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationState
from ganeti_tx.node.hypervisor.kvm.firmware import IMAGES, SECURE, FirmwareStore
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.node.hypervisor.kvm.tpm import marks, processes_having
from ganeti_tx.node.hypervisor.kvm.tpm_user import tpm_user
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.real.kvm_case import KvmCase
from ganeti_tx.test.real.kvm_node import KvmNode, until
from ganeti_tx.test.real.test_kvm_migration import HERE, free_port

#: What is kept; and something at the end of the variables, where firmware that has just begun does not write.
VARIABLES, MARK = "variables.fd", b"written by a guest"
STATE = "tpm/tpm2-00.permall"
#: Bytes of that which a TPM changes when the firmware begins to use it; the seeds of its keys are more.
OWN_CHANGES = 64
SECURE_CODE = str(IMAGES / SECURE[0])


class KvmFirmwareTests(KvmCase):
    """A machine with both."""

    async def start_or_skip(self, **hvparams: Any) -> InstanceSpec:
        """Start one that stands still."""
        try:
            return await self.start(paused=True, **hvparams)
        except HypervisorError as error:
            if "install" in str(error):
                self.skipTest(str(error))
            raise

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
        spec = await self.start_or_skip(**values)
        async with self.node.driver().machines.monitor(self.node.layout(self.name)) as client:
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
        await self.check_carried(spec, store)
        await self.driver.forget(spec)
        self.assertFalse(store.directory.exists())

    async def test_tpm_user(self) -> None:
        """The program that is a TPM is QEMU's user's, without other groups or network; its state is there for the next one."""
        self.write_uid_pool()
        spec = self.spec(tpm=True)
        store = FirmwareStore(self.node.paths, spec.uuid)
        kept: list[Mapping[str, bytes]] = []
        for model in ("pool", "pool", "none"):
            await self.start_or_skip(tpm=True, security_model=model)
            self.assertEqual(store.tpm.stat().st_mode & 0o777, 0o700)
            (pid,) = set(self.node.processes()) - {await self.pid()}
            status = Path(f"/proc/{pid}/status").read_text()
            (uid,) = os.listdir(self.node.paths.uid_pool_dir) or [str(tpm_user("").uid)]
            self.assertIn(f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n", status)
            self.assertEqual({path.lstat().st_uid for path in (store.tpm, *store.tpm.iterdir())}, {int(uid)})
            if model == "pool":
                self.assertRegex(status, r"Groups:\t *\n")
                self.assertRegex(status, r"CapEff:\t0+\n")
                self.assertRegex(status, r"NoNewPrivs:\t1\nSeccomp:\t2\n")
                self.assertEqual(Path(f"/proc/{pid}/environ").stat().st_uid, 0, "others of its user may look into it")
                self.assertNotEqual(os.readlink(f"/proc/{pid}/ns/net"), os.readlink("/proc/self/ns/net"))
            await self.driver.stop(self.name, 0.0, force=True)
            self.assertEqual(self.remains(), [])
            kept.append(await self.driver.kept(spec))
        self.assertEqual([set(each) for each in kept], [{STATE}] * 3)
        self.assertEqual(len({each[STATE] for each in kept}), 1)

    async def test_migrated(self) -> None:
        """What firmware and TPM have is in the new node's files as soon as the machine runs there; QEMU may not open them anew."""
        other = KvmNode()
        self.addCleanup(other.clear)
        new = other.driver()
        values: dict[str, Any] = {"uefi": True, "tpm": True, "migration_port": free_port()}
        if os.getuid() == 0:
            values.update(security_model="user", security_domain="nobody", use_chroot=True)
        spec = await self.start_or_skip(**values)
        await self.driver.stop(self.name, 0.0, force=True)
        kept = await self.driver.kept(spec)
        before = {**kept, VARIABLES: kept[VARIABLES][: -len(MARK)] + MARK}
        await self.driver.keep(spec, before)
        await new.keep(spec, {VARIABLES: bytes(len(before[VARIABLES]))})
        await self.driver.start(spec, [])
        self.assertEqual(await self.driver.idle(spec), {})
        await self.migrate(spec, new)
        after = await new.kept(spec)
        changed = sum(one != other for one, other in zip(after[STATE], before[STATE], strict=True))
        self.assertLess(changed, OWN_CHANGES, "another TPM")
        self.assertTrue(after[VARIABLES].endswith(MARK))
        self.assertEqual(await new.verify(), [])
        states = other.paths.kvm_firmware_dir
        mark, _ = marks(other.layout(self.name))
        (tpm,) = processes_having(states, mark)
        os.kill(tpm, signal.SIGKILL)
        await until(lambda: not processes_having(states, mark))
        self.assertIn("its TPM", await self.refused(new.migration_info(spec)))
        self.assertIn("its TPM", " ".join(await new.verify()))
        await new.stop(self.name, 0.0, force=True)
        self.assertEqual(other.remains(), [])

    async def test_idle(self) -> None:
        """A TPM that the machine does not have for now goes before it, and is there still when it has come."""
        other = KvmNode()
        self.addCleanup(other.clear)
        new = other.driver()
        spec = await self.start_or_skip(uefi=True, tpm=True, migration_port=free_port())
        await self.driver.stop(self.name, 0.0, force=True)
        had = await self.driver.kept(spec)
        without = replace(spec, hvparams={**spec.hvparams, "tpm": False})
        await self.driver.start(without, [])
        idle = await self.driver.idle(without)
        self.assertEqual(idle, {STATE: had[STATE]})
        await new.keep(without, idle)
        await self.migrate(without, new)
        self.assertEqual((await new.kept(without))[STATE], had[STATE])
        await new.stop(self.name, 0.0, force=True)

    async def migrate(self, spec: InstanceSpec, new: KvmHypervisor) -> None:
        """From its node to another one."""
        await new.accept(spec, [], await self.driver.migration_info(spec), HERE)
        await self.driver.send(spec, HERE, True)
        progress = await self.driver.migration_progress(self.name, 60.0)
        self.assertIs(progress.status, MigrationState.COMPLETED, self.node.layout(self.name).log.read_text())
        await new.take_over(self.name)
        await self.driver.leave_source(self.name)

    async def check_carried(self, spec: InstanceSpec, store: FirmwareStore) -> None:
        """What it has here another node can have, with which it starts there as here."""
        kept = await self.driver.kept(spec)
        self.assertEqual(kept["variables.fd"], store.variables.read_bytes())
        self.assertTrue(any(name.startswith("tpm/") and name.endswith(".permall") for name in kept), list(kept))
        other = KvmNode()
        try:
            driver = other.driver()
            for files in (dict.fromkeys(kept, b"from an earlier time"), kept):
                await driver.keep(spec, files)
                self.assertEqual(await driver.kept(spec), files)
            await driver.start(spec, [], paused=True)
            await driver.stop(self.name, 0.0, force=True)
            for wrong in ("../passwd", "tpm/../x", "tpm/.hidden", "variables.fd/x", "/etc/passwd", "tpm/x/y"):
                self.assertIn("nothing that", await self.refused(driver.keep(spec, {wrong: b""})))
            self.assertIn("bytes", await self.refused(driver.keep(spec, {"variables.fd": bytes(9 << 20)})))
            self.assertEqual(sorted(await driver.kept(spec)), sorted(kept))
        finally:
            await other.clear()
        self.done(rows.CARRIED)
