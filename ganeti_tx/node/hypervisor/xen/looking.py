"""What runs here, as xl tells."""

from collections.abc import Sequence
from functools import partial

from attrs import frozen

from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import InstanceInfo, Owner
from ganeti_tx.node.hypervisor.listing import listed
from ganeti_tx.node.hypervisor.xen.listed import Domain
from ganeti_tx.node.hypervisor.xen.nic_files import number_of
from ganeti_tx.node.hypervisor.xen.own import OwnDomains, find, seen
from ganeti_tx.node.hypervisor.xen.record import DomainRecord, load_domain
from ganeti_tx.node.hypervisor.xen.vifs import vif_of
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner


@frozen
class DomainLooking:
    """Asks xl only where something of ours is remembered."""

    files: IFiles
    runner: IProcessRunner
    own: OwnDomains

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """See `IHypervisor`."""
        record = load_domain(self.files, self.own.layout(instance_name))
        return None if record is None else seen_among(await self.own.xl.domains(), instance_name, record)

    async def owner(self, instance_name: str, other_than: str = "") -> Owner | None:
        """See `IHypervisor`."""
        record = load_domain(self.files, self.own.layout(instance_name))
        if record is None or record.uuid == other_than:
            return None
        found = await self.info(instance_name)  # what has crashed, or dies, is cleared at the next start
        return None if found is None else Owner(found.uuid, found.ended_by)

    async def all(self) -> list[InstanceInfo]:
        """See `IHypervisor.list_instances`."""
        if not (names := self.own.names()):
            return []
        return await listed(names, partial(self._among, await self.own.xl.domains()))

    async def _among(self, domains: Sequence[Domain], name: str) -> InstanceInfo | None:
        record = load_domain(self.files, self.own.layout(name))
        return None if record is None else seen_among(domains, name, record)

    async def interface_to(self, instance: InstanceSpec, nic: NicSpec) -> str | None:
        """See `ITellsInterfaces`."""
        layout = self.own.layout(instance.name)
        domain, number = await self.own.living(layout), number_of(self.files, layout, nic.uuid)
        return None if domain is None or number is None else await vif_of(self.runner, nic, domain.id, number)


def seen_among(domains: Sequence[Domain], name: str, record: DomainRecord) -> InstanceInfo | None:
    """An instance of which this is remembered."""
    domain = find(domains, name, record)
    return None if domain is None else seen(name, domain, record)
