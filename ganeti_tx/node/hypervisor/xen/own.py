"""Which domains are ours: those that were made for an instance, as a file and the domain's uuid say. No others are touched."""

from collections.abc import Callable, Iterable, Sequence

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.interfaces import InstanceInfo, RunState
from ganeti_tx.node.hypervisor.live import not_running
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.own_directories import names_in
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout, above, domain_layout
from ganeti_tx.node.hypervisor.xen.listed import CRASHED, DYING, POWEROFF, REBOOT, SHUTDOWN, SUSPEND, Domain
from ganeti_tx.node.hypervisor.xen.record import DomainRecord, load_domain
from ganeti_tx.node.hypervisor.xen.toolstack import Xl
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: What xl appends to the name of a domain that comes, and of one that has been sent.
COMING, GONE = "--incoming", "--migratedaway"
#: Seconds between looks.
PAUSE = 0.5


@frozen
class OwnDomains:
    """Those of one of the two hypervisors: all is found again from its run directory and xl's list, whoever has started them."""

    paths: Paths
    files: IFiles
    clock: IReactorTime
    xl: Xl
    kind: str

    def layout(self, name: str) -> DomainLayout:
        """@raise HypervisorError: it is no instance name, or somebody else could have said what is to be there."""
        layout = domain_layout(self.paths, self.kind, name)
        with naming(name):
            layout.check_own(self.files)
        return layout

    def names(self) -> list[str]:
        """The instances that we remember."""
        directory = above(self.paths, self.kind)
        return names_in(self.files, directory, directory.parent)

    async def look(self, layout: DomainLayout) -> Domain | None:
        """What is here of an instance, whatever its state. @raise HypervisorError: xl does not tell."""
        record = load_domain(self.files, layout)
        return None if record is None else find(await self.xl.domains(), layout.name, record)

    async def living(self, layout: DomainLayout) -> Domain | None:
        """What runs of it, or stands still and could run."""
        domain = await self.look(layout)
        return domain if domain is not None and lives(domain) else None

    async def running(self, layout: DomainLayout) -> tuple[DomainRecord, Domain]:
        """What is remembered of one that lives, and its domain. @raise HypervisorError: it does not run."""
        record = load_domain(self.files, layout)
        domain = None if record is None else find(await self.xl.domains(), layout.name, record)
        if record is None or domain is None or not lives(domain):
            raise not_running(layout.name)
        return record, domain

    async def reaches(self, layout: DomainLayout, limit: float, done: Callable[[Domain | None], bool]) -> bool:
        """Whether it comes to be so within so many seconds."""
        until = self.clock.seconds() + limit
        while not done(await self.look(layout)):
            if self.clock.seconds() >= until:
                return False
            await deferLater(self.clock, PAUSE)
        return True

    async def check_free(self, name: str) -> None:
        """@raise HypervisorError: a domain has this name that is not ours."""
        if any(domain.name == name for domain in await self.xl.domains()):
            raise HypervisorError(f"a domain {name} is on this node that was not started for this instance")


def find(domains: Sequence[Domain], name: str, record: DomainRecord) -> Domain | None:
    """That of an instance; one that dies slowly is left out where there is another."""
    names = (name, name + COMING, name + GONE)
    found = [domain for domain in domains if domain.name in names and domain.uuid == record.uuid.lower()]
    return min(found, key=lambda domain: (domain.state == DYING, names.index(domain.name)), default=None)


def lives(domain: Domain) -> bool:
    """Whether it runs, or stands still and can go on: what is suspended has been, or is being, sent elsewhere."""
    if domain.state == SHUTDOWN:
        return domain.reason == SUSPEND
    return domain.state not in (CRASHED, DYING)


def seen(name: str, domain: Domain, record: DomainRecord) -> InstanceInfo | None:
    """The instance as its domain is; None for one that has crashed, or is about to go."""
    by_user = record.stays and domain.state == SHUTDOWN and domain.reason in (POWEROFF, REBOOT)
    if not by_user and not lives(domain):
        return None
    state = RunState.SHUTDOWN_BY_USER if by_user else RunState.RUNNING
    return InstanceInfo(
        *(name, domain.id, domain.memory, domain.vcpus, state, domain.seconds),
        uuid=record.uuid,
        ended_by=f"xl destroy {domain.id}",
    )


def sum_of_memory(domains: Iterable[Domain]) -> int:
    """MiB."""
    return sum(domain.memory for domain in domains)
