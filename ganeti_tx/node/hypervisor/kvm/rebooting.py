"""How instances begin anew while they run."""

from collections.abc import Sequence

import msgspec
from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.ending import Ending
from ganeti_tx.node.hypervisor.kvm.machine_words import of_type
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.planning import Planning
from ganeti_tx.node.hypervisor.kvm.starting import Starting
from ganeti_tx.node.hypervisor.names import naming


@frozen
class Rebooting:
    """By the reset button; one that ends on reboot is started anew, as the same type of machine."""

    machines: OwnMachines
    planning: Planning
    starting: Starting
    ending: Ending

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """See `IHypervisor`. What could not be started anew goes on running."""
        layout = self.machines.layout(instance.name)
        state = self.machines.state(layout)
        if self.machines.pid(layout) is None:
            raise HypervisorError(f"instance {instance.name} does not run")
        if state is not None and state.exits_on_reboot:
            words = of_type(state.machine, str(instance.hvparams.get("machine_version") or ""))
            kept = {"machine_version": words} if state.machine else {}
            same = msgspec.structs.replace(instance, hvparams={**instance.hvparams, **kept})
            with naming(instance.name):
                await self.planning.check(same, disks, layout)
            await self.ending.stop(layout, state, 0.0, force=True)
            await self.starting.start(same, disks)
            return
        async with self.machines.monitor(layout) as client:
            with naming(instance.name):
                await client.execute("system_reset")
            await client.execute("cont")  # a guest that had powered itself off stands still
