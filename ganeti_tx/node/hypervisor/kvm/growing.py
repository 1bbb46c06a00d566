"""Instances under QEMU that get more processors and memory while they run."""

from attrs import define
from zope.interface import implementer

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import IGrows
from ganeti_tx.node.hypervisor.kvm.hotplug import growth
from ganeti_tx.node.hypervisor.kvm.migrating import MigratingKvm


@implementer(IGrows)
@define
class GrowingKvm(MigratingKvm):
    """What it was started with says how far (`max_vcpus`, `max_memory`)."""

    async def check_growth(self, instance: InstanceSpec, vcpus: int, memory: int) -> None:
        """As IGrows says."""
        async with self._running(instance.name) as machine:
            params = machine.params(instance)
            growth.check(machine, params, vcpus, memory)
            growth.check_masks(params, vcpus)

    async def grow(self, instance: InstanceSpec, vcpus: int, memory: int) -> None:
        """As IGrows says; new processors run where the others may."""
        async with self._running(instance.name) as machine:
            params = machine.params(instance)
            growth.check(machine, params, vcpus, memory)
            growth.check_masks(params, vcpus)
            await growth.add_memory(machine, params, memory)
            await growth.add_vcpus(machine, vcpus)
            await self._pin(machine.layout, machine.client, params.cpu_mask, vcpus)
