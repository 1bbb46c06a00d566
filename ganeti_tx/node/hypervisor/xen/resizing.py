"""Of what a domain has less, or again, while it runs: memory."""

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.live import check_balloon
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.xen.own import OwnDomains

#: Seconds in which a guest comes to have another amount of memory.
BALLOON_LIMIT = 60.0


@frozen
class DomainResizing:
    """What it was started with says how far."""

    own: OwnDomains

    async def balloon(self, instance_name: str, memory: int) -> None:
        """See `IBalloon`; a guest that stops half way may have again what it had."""
        layout, xl = self.own.layout(instance_name), self.own.xl
        record, domain = await self.own.running(layout)
        check_balloon(instance_name, memory, record.memory)
        with naming(instance_name):
            await xl.set_memory(domain.id, memory)
            if await self.own.reaches(layout, BALLOON_LIMIT, lambda now: now is None or now.memory == memory):
                return
            await xl.set_memory(domain.id, domain.memory)
            raise HypervisorError(
                f"the guest of instance {instance_name} does not come to have {memory} MiB, and may have {domain.memory}"
                " again; it needs the driver xen-balloon, and memory that it can spare"
            )
