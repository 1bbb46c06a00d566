"""A driver with all that it works with."""

from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.xen.ending import DomainEnding
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.node.hypervisor.xen.migrating import MigratingXen
from ganeti_tx.node.hypervisor.xen.own import OwnDomains
from ganeti_tx.node.hypervisor.xen.relay import Relays
from ganeti_tx.node.hypervisor.xen.toolstack import Xl


def assembled(parts: HypervisorParts, kind: XenKind) -> MigratingXen:
    """The driver of one of the two hypervisors."""
    xl = Xl(parts.runner)
    own = OwnDomains(parts.paths, parts.files, xl, kind.name)
    relays = Relays(parts.paths, parts.files, parts.runner, parts.clock)
    return MigratingXen(
        paths=parts.paths,
        files=parts.files,
        runner=parts.runner,
        clock=parts.clock,
        xl=xl,
        own=own,
        ending=DomainEnding(parts.files, parts.clock, own, relays),
        kind=kind,
        relays=relays,
        now=parts.now,
    )
