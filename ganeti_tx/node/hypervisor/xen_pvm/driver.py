"""The driver of paravirtualised instances."""

from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.xen.assembled import assembled
from ganeti_tx.node.hypervisor.xen.hypervisor import XenHypervisor
from ganeti_tx.node.hypervisor.xen.pvm import Paravirtual


def register(parts: HypervisorParts) -> XenHypervisor:
    """See `kinds.Register`."""
    return assembled(parts, Paravirtual())
