"""Of what a machine has more, or less, while it runs: processors, memory, and room on its disks."""

from attrs import frozen

from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.node.hypervisor.kvm.balloon import balloon
from ganeti_tx.node.hypervisor.kvm.disk_growth import tell_growth
from ganeti_tx.node.hypervisor.kvm.hotplug import growth
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.pinning import pin_instance
from ganeti_tx.node.hypervisor.names import naming


@frozen
class Resizing:
    """What it was started with says how far (`max_vcpus`, `max_memory`)."""

    machines: OwnMachines

    async def check_growth(self, instance: InstanceSpec, vcpus: int, memory: int) -> None:
        """See `IGrows`."""
        async with self.machines.running(instance.name) as machine:
            params = machine.params(instance)
            growth.check(machine, params, vcpus, memory)
            growth.check_masks(params, vcpus)

    async def grow(self, instance: InstanceSpec, vcpus: int, memory: int) -> None:
        """See `IGrows`; new processors run where the others may."""
        async with self.machines.running(instance.name) as machine:
            params = machine.params(instance)
            growth.check(machine, params, vcpus, memory)
            growth.check_masks(params, vcpus)
            await growth.add_memory(machine, params, memory)
            await growth.add_vcpus(machine, vcpus)
            await pin_instance(self.machines, machine.layout, machine.client, params.cpu_mask, vcpus)

    async def balloon(self, instance_name: str, memory: int) -> None:
        """See `IBalloon`."""
        async with self.machines.running(instance_name) as machine:
            await balloon(machine, memory)

    async def disk_has_grown(self, instance_name: str, disk: DiskSpec) -> bool:
        """See `IDiskGrowth`."""
        layout = self.machines.layout(instance_name)
        if self.machines.pid(layout) is None:
            return False
        async with self.machines.monitor(layout) as client:
            with naming(instance_name):
                await tell_growth(client, instance_name, disk)
        return True
