"""The driver of fully virtualised instances."""

from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.xen.assembled import assembled
from ganeti_tx.node.hypervisor.xen.hvm import FullyVirtual
from ganeti_tx.node.hypervisor.xen.hypervisor import XenHypervisor


def register(parts: HypervisorParts) -> XenHypervisor:
    """See `kinds.Register`."""
    return assembled(parts, FullyVirtual())
