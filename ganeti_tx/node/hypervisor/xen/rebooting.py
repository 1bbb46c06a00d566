"""How domains begin anew while they run."""

from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.xen.ending import DomainEnding, can_hear
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.node.hypervisor.xen.listed import Domain
from ganeti_tx.node.hypervisor.xen.own import OwnDomains
from ganeti_tx.node.hypervisor.xen.starting import DomainStarting

#: Seconds in which a guest that was asked for it begins anew.
REBOOT_LIMIT = 60.0


@frozen
class DomainRebooting:
    """By their guests; one that cannot be asked, or does not obey, is started anew, as by a reset button."""

    own: OwnDomains
    starting: DomainStarting
    ending: DomainEnding

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """See `IHypervisor`."""
        layout = self.own.layout(instance.name)
        record, domain = await self.own.running(layout)
        with naming(instance.name):
            if not record.exits_on_reboot and can_hear(domain) and await self._obeys(layout, domain):
                return
            await self.ending.end(layout)
            await self.starting.start(instance, disks)

    async def _obeys(self, layout: DomainLayout, before: Domain) -> bool:
        """Whether its guest does it, upon which Xen has another domain for it."""
        if not await self.own.xl.ask("reboot", before.id, REBOOT_LIMIT):
            return False
        return await self.own.reaches(layout, REBOOT_LIMIT, lambda now: now is not None and now.id != before.id)
