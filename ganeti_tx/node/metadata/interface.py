"""By which interface of the node one of its instances is asked for, and asks."""

from collections.abc import Mapping

from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import IHypervisor, ITellsInterfaces


async def interface_to(hypervisors: Mapping[str, IHypervisor], spec: InstanceSpec, nic: NicSpec) -> str | None:
    """As its hypervisor has made it: a route to its address may lead to another instance, which would be taken for this one.

    @raise HypervisorError: the hypervisor does not tell.
    """
    hypervisor = hypervisors.get(spec.hypervisor)
    if not ITellsInterfaces.providedBy(hypervisor):
        return None
    found: str | None = await ITellsInterfaces(hypervisor).interface_to(spec, nic)
    return found
