"""Node calls that change an instance while it runs."""

from attrs import define, evolve
from msgspec.structs import replace

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.node.answers import answers
from ganeti_tx.node.hypervisor.interfaces import IBalloon, IGrows, IHotplug
from ganeti_tx.node.instances import Instances
from ganeti_tx.rpc.calls.hotplug import (
    HotplugAction,
    HotplugDevice,
    HotplugSupported,
    InstanceBalloonMemory,
    InstanceGrow,
)


@define
class LiveChanges:
    """The devices and the memory of the instances that run here."""

    instances: Instances

    @answers(HotplugSupported)
    async def supported(self, call: HotplugSupported) -> None:
        """@raise HypervisorError: why its devices cannot be changed."""
        if call.disks or call.nics or call.vcpus is None or call.memory is None:
            await self._plugs(call.instance).check_hotplug(call.instance, call.disks, call.nics)
        if call.vcpus is not None and call.memory is not None:
            await self._grows(call.instance).check_growth(call.instance, call.vcpus, call.memory)

    @answers(HotplugDevice)
    async def device(self, call: HotplugDevice) -> None:
        """Plug it in, out, or anew. A disk has no stable name from it: another one may have its place until all is done."""
        hypervisor = self._plugs(call.instance)
        if call.disk is not None:
            await self._disk(hypervisor, call, call.disk)
        if call.nic is not None:
            await self._nic(hypervisor, call, call.nic)

    async def _disk(self, hypervisor: IHotplug, call: HotplugDevice, disk: DiskSpec) -> None:
        if call.action is not HotplugAction.ADD:
            await hypervisor.unplug_disk(call.instance, disk)
        if call.action is not HotplugAction.REMOVE:
            attached = await self.instances.disks.attach_one(call.instance, replace(disk, index=-1))
            await hypervisor.plug_disk(call.instance, evolve(attached, spec=disk))

    async def _nic(self, hypervisor: IHotplug, call: HotplugDevice, nic: NicSpec) -> None:
        if call.action is not HotplugAction.ADD:
            await hypervisor.unplug_nic(call.instance, nic)
        if call.action is not HotplugAction.REMOVE:
            await hypervisor.plug_nic(call.instance, nic, call.index)

    @answers(InstanceBalloonMemory)
    async def balloon(self, call: InstanceBalloonMemory) -> None:
        """@raise HypervisorError: it does not run, or its guest gives no memory back."""
        hypervisor = self.instances.of(call.instance.hypervisor)
        if not IBalloon.providedBy(hypervisor):
            raise HypervisorError(
                f"hypervisor {call.instance.hypervisor} cannot change the memory of instance {call.instance.name}"
                " while it runs; change maxmem and restart it"
            )
        await IBalloon(hypervisor).balloon(call.instance.name, call.memory)

    @answers(InstanceGrow)
    async def grow(self, call: InstanceGrow) -> None:
        """@raise HypervisorError: it does not run, or was not started for so much."""
        await self._grows(call.instance).grow(call.instance, call.vcpus, call.memory)

    def _grows(self, instance: InstanceSpec) -> IGrows:
        hypervisor = self.instances.of(instance.hypervisor)
        if not IGrows.providedBy(hypervisor):
            raise HypervisorError(
                f"hypervisor {instance.hypervisor} cannot give instance {instance.name} processors or memory while it runs;"
                " restart it"
            )
        return IGrows(hypervisor)

    def _plugs(self, instance: InstanceSpec) -> IHotplug:
        hypervisor = self.instances.of(instance.hypervisor)
        if not IHotplug.providedBy(hypervisor):
            raise HypervisorError("Hotplug is not supported by this hypervisor")
        return IHotplug(hypervisor)
