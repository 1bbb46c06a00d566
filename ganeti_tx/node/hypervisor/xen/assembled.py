"""A driver of Xen with all that it works with, from what knows nothing of the others to what needs many."""

from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.xen.domain_files import DomainFiles
from ganeti_tx.node.hypervisor.xen.ending import DomainEnding
from ganeti_tx.node.hypervisor.xen.hypervisor import XenHypervisor
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.node.hypervisor.xen.looking import DomainLooking
from ganeti_tx.node.hypervisor.xen.moves import DomainMoves
from ganeti_tx.node.hypervisor.xen.node_facts import XenFacts
from ganeti_tx.node.hypervisor.xen.own import OwnDomains
from ganeti_tx.node.hypervisor.xen.planning import DomainPlanning
from ganeti_tx.node.hypervisor.xen.rebooting import DomainRebooting
from ganeti_tx.node.hypervisor.xen.receiving import DomainReceiving
from ganeti_tx.node.hypervisor.xen.relay import Relays
from ganeti_tx.node.hypervisor.xen.resizing import DomainResizing
from ganeti_tx.node.hypervisor.xen.sending import DomainSending
from ganeti_tx.node.hypervisor.xen.starting import DomainStarting
from ganeti_tx.node.hypervisor.xen.toolstack import Xl


def assembled(parts: HypervisorParts, kind: XenKind) -> XenHypervisor:
    """The driver of one of the two hypervisors."""
    paths, files, runner, clock = parts.paths, parts.files, parts.runner, parts.clock
    xl, relays, written = Xl(runner), Relays(files, runner, clock), DomainFiles(files, kind)
    own = OwnDomains(paths, files, clock, xl, kind.name)
    planning = DomainPlanning(paths, files, runner, xl, kind)
    ending = DomainEnding(files, clock, own, relays, written)
    starting = DomainStarting(files, own, planning, written, ending)
    moves = DomainMoves(files, runner, own, relays, parts.now)
    return XenHypervisor(
        name=kind.name,
        own=own,
        planning=planning,
        starting=starting,
        ending=ending,
        rebooting=DomainRebooting(own, starting, ending),
        looking=DomainLooking(files, runner, own),
        facts=XenFacts(xl),
        resizing=DomainResizing(own),
        moves=moves,
        sending=DomainSending(files, own, kind, relays, moves, ending),
        receiving=DomainReceiving(files, clock, own, kind, planning, written, ending, relays, moves),
    )
