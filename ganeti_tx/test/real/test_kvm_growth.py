"""Machines that got processors while they ran go on to other nodes, with all that QEMU makes by the number of processors."""

from itertools import pairwise
from typing import Any

from ganeti_tx.model.migration import MigrationState
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.test.real.going_over import LIMIT, goes_over
from ganeti_tx.test.real.kvm_case import KvmCase
from ganeti_tx.test.real.kvm_node import KvmNode
from ganeti_tx.test.real.test_kvm_migration import HERE, free_port


class GrownMachineTests(KvmCase):
    """QEMU gives what it makes as many queues as it has begun with processors, and takes no machine that has others."""

    async def test_disks(self) -> None:
        """Disks of the start, and such as came later, there, too, keep no machine from going on."""
        await self.check_grows_and_goes()

    async def test_scsi(self) -> None:
        """Nor does a controller of disks."""
        await self.check_grows_and_goes(disk_type="scsi-hd", scsi_controller_type="virtio-scsi-pci")

    async def test_taken_for_another(self) -> None:
        """The node that cannot take a machine says why; here one that is told of it by a node with an older version."""
        spec, there = self.spec(max_vcpus=4, migration_port=free_port()), KvmNode()
        self.addCleanup(there.clear)
        await self.driver.start(spec, [self.a_disk(0)])
        spec.beparams.update(vcpus=2)
        await self.driver.grow(spec, 2, self.memory)
        told = {**await self.driver.migration_info(spec), "plugged_vcpus": 0}
        await there.driver().accept(spec, [self.a_disk(0)], told, HERE)
        self.assertIs((await there.driver().migration_progress(self.name)).status, MigrationState.ACTIVE)
        await self.driver.send(spec, HERE, False)
        self.assertIs((await self.driver.migration_progress(self.name, LIMIT)).status, MigrationState.FAILED)
        found = await there.driver().migration_progress(self.name)
        self.assertIs(found.status, MigrationState.FAILED)
        for said in ("Failed to load virtio-blk", "Invalid argument", f"({there.layout(self.name).log})"):
            self.assertIn(said, found.reason)
        await there.driver().refuse(self.name)
        await self.driver.stop(self.name, 0.0, force=True)

    async def check_grows_and_goes(self, **hvparams: Any) -> None:
        """Twice, with a disk more each time."""
        spec, nodes = self.spec(max_vcpus=4, **hvparams), [self.node, KvmNode(), KvmNode()]
        for node in nodes[1:]:
            self.addCleanup(node.clear)
        disks: list[AttachedDisk] = [self.a_disk(0)]
        drivers = [node.driver() for node in nodes]
        await drivers[0].start(spec, disks)
        for vcpus, (here, there) in enumerate(pairwise(drivers), start=2):
            spec.beparams.update(vcpus=vcpus)
            await here.grow(spec, vcpus, self.memory)
            info = await goes_over(spec, disks, here, there)
            self.assertEqual(info.vcpus, vcpus)
            disks.append(self.a_disk(1))
            await there.plug_disk(spec, self.a_disk(1))
        await drivers[-1].stop(self.name, 0.0, force=True)
