"""How a domain ends, and what is removed then."""

from collections.abc import Callable

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.xen.config_file import is_ours
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.node.hypervisor.xen.listed import PAUSED, SUSPEND, Domain
from ganeti_tx.node.hypervisor.xen.own import OwnDomains, lives
from ganeti_tx.node.hypervisor.xen.record import load_domain, load_move
from ganeti_tx.node.hypervisor.xen.relay import Relays
from ganeti_tx.runtime.files import IFiles

#: Seconds between looks, and until a domain that was destroyed is gone.
PAUSE = 0.5
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

    async def stop(self, layout: DomainLayout, timeout: float, force: bool) -> None:
        """Ask the guest, wait for it, cut it off, clear away; each as far as there is something to do."""
        layout.check_own(self.files)
        if not self.files.exists(layout.directory):
            return
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
        self.clear(layout)

    def clear(self, layout: DomainLayout) -> None:
        """The files of what is no more. @raise HypervisorError: others are among them, which stay, or could be."""
        layout.check_own(self.files)
        if foreign := [name for name in self._kept(layout) if not layout.is_own(name)]:
            raise HypervisorError(
                f"instance {layout.name}: {layout.directory / foreign[0]} was not written for it; move it away"
            )
        try:
            if is_ours(self.files, layout.config):
                self.files.remove(layout.config)
            if self.files.exists(layout.directory):
                self.files.remove_tree(layout.directory)
        except OSError as error:
            raise HypervisorError(f"instance {layout.name}: cannot remove {error.filename}: {error.strerror}")

    def _kept(self, layout: DomainLayout) -> list[str]:
        return self.files.listdir(layout.directory) if self.files.exists(layout.directory) else []

    async def _destroy(self, layout: DomainLayout, domain: Domain) -> None:
        """What ends by itself meanwhile cannot be destroyed, which is no fault."""
        failed = None
        try:
            await self.own.xl.destroy(domain.id)
        except HypervisorError as error:
            failed = error
        limit = GONE_LIMIT if failed is None else SETTLE_LIMIT
        if not await self.reaches(layout, limit, lambda now: now is None):
            raise failed or HypervisorError(
                f"instance {layout.name}: its domain {domain.id} does not end, though it was destroyed"
            )

    async def _power_off(self, layout: DomainLayout, domain: Domain, timeout: float) -> None:
        until = self.clock.seconds() + timeout
        if timeout > 0 and await self.own.xl.ask("shutdown", domain.id, timeout):
            left = until - self.clock.seconds()
            if await self.reaches(layout, left, lambda now: now is None or not lives(now)):
                await self._let_go(layout)

    async def _let_go(self, layout: DomainLayout) -> None:
        """xl itself destroys a domain that has ended, unless that is kept to be seen."""
        record = load_domain(self.files, layout)
        if record is not None and not record.stays:
            await self.reaches(layout, SETTLE_LIMIT, lambda now: now is None)

    async def reaches(self, layout: DomainLayout, limit: float, done: Callable[[Domain | None], bool]) -> bool:
        """Whether it comes to be so within so many seconds."""
        until = self.clock.seconds() + limit
        while not done(await self.own.look(layout)):
            if self.clock.seconds() >= until:
                return False
            await deferLater(self.clock, PAUSE)
        return True


def can_hear(domain: Domain) -> bool:
    """Whether its guest runs, so that it can be asked for something."""
    return domain.state != PAUSED and domain.reason != SUSPEND
