"""The driver of instances in a chroot with all that it works with."""

from ganeti_tx.node.hypervisor.chroot.hypervisor import ChrootHypervisor
from ganeti_tx.node.hypervisor.chroot.init_script import InitScripts
from ganeti_tx.node.hypervisor.chroot.processes import Inhabitants
from ganeti_tx.node.hypervisor.chroot.roots import Roots
from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.root_disk import RootDisks


def register(parts: HypervisorParts) -> ChrootHypervisor:
    """See `kinds.Register`."""
    return ChrootHypervisor(
        paths=parts.paths,
        files=parts.files,
        clock=parts.clock,
        scripts=InitScripts(parts.runner),
        processes=Inhabitants(parts.threads, parts.clock),
        roots=Roots(parts.files, parts.runner, RootDisks(parts.runner)),
    )
