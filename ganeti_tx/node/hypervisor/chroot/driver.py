"""The driver of instances in a chroot with all that it works with, from what knows nothing of the others to what needs many."""

from ganeti_tx.node.hypervisor.chroot.ending import ChrootEnding
from ganeti_tx.node.hypervisor.chroot.hypervisor import ChrootHypervisor
from ganeti_tx.node.hypervisor.chroot.init_script import InitScripts
from ganeti_tx.node.hypervisor.chroot.own import OwnChroots
from ganeti_tx.node.hypervisor.chroot.processes import Inhabitants
from ganeti_tx.node.hypervisor.chroot.roots import Roots
from ganeti_tx.node.hypervisor.chroot.starting import ChrootStarting
from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.root_disk import RootDisks
from ganeti_tx.node.hypervisor.scopes import Scopes


def register(parts: HypervisorParts) -> ChrootHypervisor:
    """See `kinds.Register`."""
    paths, files, runner, clock = parts.paths, parts.files, parts.runner, parts.clock
    scripts, processes = InitScripts(runner, Scopes(files.exists)), Inhabitants(parts.threads, clock)
    disks = RootDisks(runner)
    roots = Roots(files, runner, disks)
    own = OwnChroots(paths, files, scripts, processes)
    ending = ChrootEnding(files, clock, scripts, processes, own, roots)
    return ChrootHypervisor(
        files=files,
        own=own,
        starting=ChrootStarting(files, clock, scripts, processes, own, roots, ending),
        ending=ending,
        disks=disks,
    )
