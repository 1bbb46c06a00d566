"""The KVM driver with QEMU's own agent in a real guest: it tells its addresses, and its file systems stand still."""

import subprocess
from pathlib import Path

from twisted.trial.unittest import TestCase

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.operation_cells import DONE
from ganeti_tx.test.contracts.standing_still import LIMIT, check_stands_still
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, kvm_spec
from ganeti_tx.test.real.agent_guest import COMMANDS, guest_with_agent
from ganeti_tx.test.real.kvm_node import KvmNode, SerialConsole, until


class GuestAgentTests(TestCase):
    """One guest, with a disk that it writes to."""

    timeout = 300

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        self.node = KvmNode()
        self.addCleanup(self.node.clear)
        self.driver = self.node.driver()
        self.kernel = await guest_with_agent(self.node.top)

    def disk(self) -> AttachedDisk:
        """With a file system."""
        path = self.node.top / "disk"
        path.write_bytes(b"")
        with path.open("r+b") as file:
            file.truncate(16 << 20)
        subprocess.run(["mkfs.ext4", "-q", str(path)], check=True, timeout=60)
        return AttachedDisk(DiskSpec(uuid="d0", dev_type="file", size=16, logical_id=["loop", str(path)]), str(path))

    async def boot(self) -> SerialConsole:
        """Until the agent runs."""
        spec = kvm_spec(vcpus=1, kvm_flag="disabled", use_guest_agent=True, **self.kernel)
        await self.driver.start(spec, [self.disk()])
        console = await SerialConsole.of(self.node.layout(NAME))
        await console.wait_for(b"/ # ")
        for command in COMMANDS:
            console.type(command)
        await console.wait_for(b"agent-runs")
        return console

    @property
    def mark(self) -> Path:
        """There as long as it may stand still."""
        return self.node.layout(NAME).frozen

    async def test_agent(self) -> None:
        """It tells its addresses; it stands still until it is let go, or the time is over, or there is another daemon."""
        console = await self.boot()
        told = await self.driver.guest_interfaces(NAME)
        self.assertEqual([(each.name, list(each.addresses)) for each in told.interfaces], [("lo", ["192.0.2.7"])])
        rows.hold(self.driver.name, {rows.ADDRESSES: DONE})

        await check_stands_still(self.driver, NAME)
        self.assertEqual(await self.driver.freeze(NAME, LIMIT), "")
        self.assertIn("refuses", await self.driver.freeze(NAME, LIMIT))  # and so it has been let go
        self.assertFalse(await self.driver.thaw(NAME))

        self.assertEqual(await self.driver.freeze(NAME, LIMIT), "")
        console.type(b"echo is''-asked; echo x > /mnt/x && echo has''-written")
        await console.wait_for(b"is-asked")
        self.assertTrue(self.mark.exists())
        self.assertNotIn(b"has-written", console.said)
        self.assertTrue(await self.driver.thaw(NAME))
        await console.wait_for(b"has-written")

        self.assertEqual(await self.driver.freeze(NAME, 0.1), "")
        await until(lambda: not self.mark.exists())
        self.assertFalse(await self.driver.thaw(NAME))

        self.assertEqual(await self.driver.freeze(NAME, LIMIT), "")
        after = self.node.driver()
        after.thaw_all()
        await until(lambda: not self.mark.exists())
        self.assertFalse(await self.driver.thaw(NAME))
        console.type(b"echo y > /mnt/y && echo goes''-on")
        await console.wait_for(b"goes-on")
        await self.driver.stop(NAME, 0.0, force=True)
        self.assertEqual(self.node.remains(), [])
