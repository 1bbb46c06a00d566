"""Guests whose agents can be asked: what `use_guest_agent` brings beside the shutdown."""

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.guest_interface import GuestInterfaces
from ganeti_tx.node.hypervisor.kvm.agent.addresses import COMMAND, guest_interfaces
from ganeti_tx.node.hypervisor.kvm.agent.freezing import NO_AGENT, Freezing
from ganeti_tx.node.hypervisor.kvm.agent.talk import GuestAgents
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.runtime.files import IFiles


@frozen
class AgentGuests:
    """By the names of their instances."""

    machines: OwnMachines
    files: IFiles
    agents: GuestAgents
    freezing: Freezing

    async def freeze(self, instance_name: str, limit: float) -> str:
        """See `IFreezes`."""
        return await self.freezing.freeze(self.machines.layout(instance_name), limit)

    async def thaw(self, instance_name: str) -> bool:
        """See `IFreezes`."""
        return await self.freezing.thaw(self.machines.layout(instance_name))

    def thaw_all(self) -> None:
        """See `IFreezes`."""
        self.freezing.thaw_all(self.machines.layouts())

    async def interfaces(self, instance_name: str) -> GuestInterfaces:
        """See `ITellsAddresses.guest_interfaces`."""
        layout = self.machines.layout(instance_name)
        if not self.files.exists(layout.guest_agent):
            raise HypervisorError(NO_AGENT)
        async with self.agents.talk(layout.guest_agent) as talk:
            return guest_interfaces(await talk.ask(COMMAND))
