"""Devices that come and go while their machine runs."""

from attrs import frozen

from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.hotplug.disks import DiskPlug
from ganeti_tx.node.hypervisor.kvm.hotplug.nics import NicPlug
from ganeti_tx.node.hypervisor.kvm.hotplug.offers import NEEDED, check_commands, check_disks, check_nics
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines


@frozen
class Plugging:
    """Finds the machine; each kind of device has its own way in and out."""

    machines: OwnMachines
    disks: DiskPlug
    nics: NicPlug

    async def check(self, instance: InstanceSpec, disks: bool, nics: bool) -> None:
        """See `IHotplug.check_hotplug`."""
        async with self.machines.running(instance.name) as machine:
            await check_commands(machine.client, NEEDED)
            if disks:
                await check_disks(machine.client, machine.params(instance))
            if nics:
                await check_nics(machine.client, machine.params(instance))

    async def plug_disk(self, instance: InstanceSpec, disk: AttachedDisk) -> None:
        """See `IHotplug`."""
        async with self.machines.running(instance.name) as machine:
            await self.disks.plug(machine, instance, disk)

    async def unplug_disk(self, instance: InstanceSpec, disk: DiskSpec) -> None:
        """See `IHotplug`."""
        async with self.machines.running(instance.name) as machine:
            await self.disks.unplug(machine, disk.uuid)

    async def plug_nic(self, instance: InstanceSpec, nic: NicSpec, index: int) -> None:
        """See `IHotplug`."""
        async with self.machines.running(instance.name) as machine:
            await self.nics.plug(machine, instance, nic, index)

    async def unplug_nic(self, instance: InstanceSpec, nic: NicSpec) -> None:
        """See `IHotplug`."""
        async with self.machines.running(instance.name) as machine:
            await self.nics.unplug(machine, nic.uuid)
