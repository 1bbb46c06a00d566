"""How a domain ends, and what is removed then."""

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.xen.domain_files import DomainFiles
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.node.hypervisor.xen.listed import PAUSED, SUSPEND, Domain
from ganeti_tx.node.hypervisor.xen.own import OwnDomains, lives
from ganeti_tx.node.hypervisor.xen.record import load_domain, load_move
from ganeti_tx.node.hypervisor.xen.relay import Relays
from ganeti_tx.runtime.files import IFiles

#: Seconds until a domain that was destroyed is gone.
GONE_LIMIT = 60.0
#: Seconds in which xl clears away what has ended by itself.
SETTLE_LIMIT = 20.0


@frozen
class DomainEnding:
    """Ends domains."""

    files: IFiles
    clock: IReactorTime
    own: OwnDomains
    relays: Relays
    written: DomainFiles

    async def stop(self, instance_name: str, timeout: float, force: bool) -> None:
        """Ask the guest, wait for it, cut it off, clear away; each as far as there is something to do."""
        layout = self.own.layout(instance_name)
        if not self.files.exists(layout.directory):
            return
        with naming(instance_name):
            domain = await self.own.living(layout)
            if domain is not None and not force and can_hear(domain):
                await self._power_off(layout, domain, timeout)
            await self.end(layout)

    async def end(self, layout: DomainLayout) -> None:
        """Leave nothing of it. @raise HypervisorError: its domain does not go."""
        await self.relays.end(layout)
        if (move := load_move(self.files, layout)) is not None:
            await self.relays.has_ended(move.pid, layout, GONE_LIMIT)
        if (domain := await self.own.look(layout)) is not None:
            await self._destroy(layout, domain)
        self.written.clear(layout)

    async def _destroy(self, layout: DomainLayout, domain: Domain) -> None:
        """What ends by itself meanwhile cannot be destroyed, which is no fault."""
        failed = None
        try:
            await self.own.xl.destroy(domain.id)
        except HypervisorError as error:
            failed = error
        limit = GONE_LIMIT if failed is None else SETTLE_LIMIT
        if not await self.own.reaches(layout, limit, lambda now: now is None):
            raise failed or HypervisorError(
                f"instance {layout.name}: its domain {domain.id} does not end, though it was destroyed"
            )

    async def _power_off(self, layout: DomainLayout, domain: Domain, timeout: float) -> None:
        until = self.clock.seconds() + timeout
        if timeout > 0 and await self.own.xl.ask("shutdown", domain.id, timeout):
            left = until - self.clock.seconds()
            if await self.own.reaches(layout, left, lambda now: now is None or not lives(now)):
                await self._let_go(layout)

    async def _let_go(self, layout: DomainLayout) -> None:
        """xl itself destroys a domain that has ended, unless that is kept to be seen."""
        record = load_domain(self.files, layout)
        if record is not None and not record.stays:
            await self.own.reaches(layout, SETTLE_LIMIT, lambda now: now is None)


def can_hear(domain: Domain) -> bool:
    """Whether its guest runs, so that it can be asked for something."""
    return domain.state != PAUSED and domain.reason != SUSPEND
