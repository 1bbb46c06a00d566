"""The LXC driver with all that it works with, from what knows nothing of the others to what needs many."""

from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.lxc.containers import Containers
from ganeti_tx.node.hypervisor.lxc.control_groups import ControlGroups
from ganeti_tx.node.hypervisor.lxc.ending import ContainerEnding
from ganeti_tx.node.hypervisor.lxc.hypervisor import LxcHypervisor
from ganeti_tx.node.hypervisor.lxc.looking import ContainerLooking
from ganeti_tx.node.hypervisor.lxc.network import Veths
from ganeti_tx.node.hypervisor.lxc.node_facts import LxcFacts
from ganeti_tx.node.hypervisor.lxc.own import OwnContainers
from ganeti_tx.node.hypervisor.lxc.starting import ContainerStarting
from ganeti_tx.node.hypervisor.root_disk import RootDisks


def register(parts: HypervisorParts) -> LxcHypervisor:
    """See `kinds.Register`."""
    paths, files, runner = parts.paths, parts.files, parts.runner
    containers, groups = Containers(runner), ControlGroups(files, runner)
    disks, veths = RootDisks(runner, ("nodev",)), Veths(paths, files, runner)
    own = OwnContainers(paths, files, containers)
    ending = ContainerEnding(files, containers, own, disks, veths)
    return LxcHypervisor(
        own=own,
        starting=ContainerStarting(files, containers, own, groups, disks, veths, ending),
        ending=ending,
        looking=ContainerLooking(own),
        facts=LxcFacts(files, containers, disks),
        veths=veths,
    )
