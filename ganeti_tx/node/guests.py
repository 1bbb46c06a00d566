"""Node calls about what goes on inside of instances."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.model.guest_interface import GuestInterfaces
from ganeti_tx.node.answers import answers
from ganeti_tx.node.hypervisor.interfaces import IFreezes, IHypervisor, ITellsAddresses
from ganeti_tx.rpc.calls.guest import GuestAddresses, InstanceFreeze, InstanceThaw

#: Seconds that all guests of a node together have to tell their addresses: less than who asks waits for the node.
ADDRESSES_LIMIT = 7.0


@frozen
class Guests:
    """The guests of this node, as far as their hypervisors reach into them."""

    hypervisors: Mapping[str, IHypervisor]
    clock: IReactorTime

    @answers(InstanceFreeze)
    async def freeze(self, call: InstanceFreeze) -> str:
        """Why the guest does not stand still, or nothing."""
        hypervisor = self.hypervisors.get(call.hypervisor)
        if not IFreezes.providedBy(hypervisor):
            return f"hypervisor {call.hypervisor} cannot have file systems stand still"
        why_not: str = await IFreezes(hypervisor).freeze(call.instance_name, call.limit)
        return why_not

    @answers(InstanceThaw)
    async def thaw(self, call: InstanceThaw) -> bool:
        """Whether it has stood still all the time. @raise HypervisorError: it may do so still."""
        hypervisor = self.hypervisors.get(call.hypervisor)
        if not IFreezes.providedBy(hypervisor):
            return False
        stood_still: bool = await IFreezes(hypervisor).thaw(call.instance_name)
        return stood_still

    @answers(GuestAddresses)
    async def addresses(self, call: GuestAddresses) -> dict[str, GuestInterfaces]:
        """All are asked at the same time, and those that are silent are left out."""
        hypervisor = self.hypervisors.get(call.hypervisor)
        if not ITellsAddresses.providedBy(hypervisor):
            return {}
        asked = [
            Deferred.fromCoroutine(ITellsAddresses(hypervisor).guest_interfaces(name)).addTimeout(
                ADDRESSES_LIMIT, self.clock
            )
            for name in call.instances
        ]
        told: list[tuple[bool, Any]] = await DeferredList(asked, consumeErrors=True)
        return {name: found for name, (success, found) in zip(call.instances, told, strict=True) if success}
