"""The LXC driver with all that it works with."""

from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.lxc.containers import Containers
from ganeti_tx.node.hypervisor.lxc.control_groups import ControlGroups
from ganeti_tx.node.hypervisor.lxc.hypervisor import LxcHypervisor
from ganeti_tx.node.hypervisor.lxc.network import Veths
from ganeti_tx.node.hypervisor.root_disk import RootDisks


def register(parts: HypervisorParts) -> LxcHypervisor:
    """See `kinds.Register`."""
    return LxcHypervisor(
        paths=parts.paths,
        files=parts.files,
        containers=Containers(parts.runner),
        groups=ControlGroups(parts.files, parts.runner),
        disks=RootDisks(parts.runner, ("nodev",)),
        veths=Veths(parts.paths, parts.files, parts.runner),
    )
