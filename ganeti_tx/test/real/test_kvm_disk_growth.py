"""A real QEMU is told that a disk of its guest has grown."""

import os
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.test.contracts.hypervisor_page import GROWN, hold
from ganeti_tx.test.contracts.operation_cells import DONE
from ganeti_tx.test.node.hypervisor.kvm.parts import attached, kvm_spec
from ganeti_tx.test.real.kvm_node import KvmNode

MIB = 1024 * 1024


class DiskGrowthTests(TestCase):
    """A machine with one disk in a file; it never gets further than its firmware."""

    timeout = 300

    def setUp(self) -> None:
        self.node = KvmNode()
        self.addCleanup(self.node.clear)
        self.driver: KvmHypervisor = self.node.driver()
        path = self.node.top / "disk"
        path.write_bytes(b"")
        os.truncate(path, 8 * MIB)
        self.disk = attached(path=str(path))

    def test_told(self) -> None:
        """The guest's device has the new size, however it is called, and is not cut off; one that it does not have is an error."""
        return Deferred.fromCoroutine(self.grown())  # type: ignore[return-value]

    async def grown(self) -> None:
        """The whole of it."""
        for disk_type in ("paravirtual", "scsi-hd", "ide"):
            spec = kvm_spec(kvm_flag="disabled", disk_type=disk_type)
            self.assertFalse(await self.driver.disk_has_grown(spec.name, self.disk.spec))
            await self.driver.start(spec, [self.disk])
            for size in (16, 24):
                os.truncate(self.disk.path, size * MIB)
                self.assertTrue(await self.driver.disk_has_grown(spec.name, replace(self.disk.spec, size=size)))
                self.assertEqual(await self.seen(spec.name), size * MIB)
            with self.assertRaisesRegex(HypervisorError, "runs without its disk none"):
                await self.driver.disk_has_grown(spec.name, replace(self.disk.spec, uuid="none"))
            self.assertTrue(await self.driver.disk_has_grown(spec.name, replace(self.disk.spec, size=20)))
            self.assertEqual((await self.seen(spec.name), os.stat(self.disk.path).st_size), (24 * MIB, 24 * MIB))
            await self.driver.stop(spec.name, 0, force=True)
            os.truncate(self.disk.path, 8 * MIB)
        hold(self.driver.name, {GROWN: DONE})

    async def seen(self, name: str) -> Any:
        """The size of the guest's disk, in bytes."""
        async with self.driver.machines.monitor(self.node.layout(name)) as client:
            devices = await client.execute("query-block")
        (size,) = [
            each["inserted"]["image"]["virtual-size"]
            for each in devices
            if each.get("inserted", {}).get("file") == self.disk.path
        ]
        return size
