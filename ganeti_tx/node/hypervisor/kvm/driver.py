"""The KVM driver with all that it works with."""

from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.kvm.acceleration import AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.process_owners import user_ids_in_use
from ganeti_tx.node.hypervisor.kvm.processes import LinuxQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import UnixQmpConnector
from ganeti_tx.node.hypervisor.kvm.remains import Remains
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool
from ganeti_tx.runtime.entropy import SystemEntropy


def register(parts: HypervisorParts) -> KvmHypervisor:
    """See `kinds.Register`."""
    network = Network(parts.paths, parts.files, parts.runner)
    uids = UidPool(parts.paths, parts.files, SystemEntropy(), user_ids_in_use)
    return KvmHypervisor(
        paths=parts.paths,
        files=parts.files,
        runner=parts.runner,
        clock=parts.clock,
        monitors=Monitors(UnixQmpConnector(parts.reactor, parts.clock)),
        processes=LinuxQemuProcesses(parts.reactor),
        probe=AccelerationProbe(parts.paths, parts.files, parts.runner),
        network=network,
        uids=uids,
        remains=Remains(parts.files, network, uids),
    )
