"""Which hypervisors this node has."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.node.hypervisor.interfaces import IHypervisor
from ganeti_tx.node.hypervisor.kvm.acceleration import AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.driver import KvmHypervisor
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.process_owners import user_ids_in_use
from ganeti_tx.node.hypervisor.kvm.processes import LinuxMachineProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import UnixQmpConnector
from ganeti_tx.node.hypervisor.kvm.remains import Remains
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool
from ganeti_tx.runtime.entropy import SystemEntropy
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.threads import IThreads


class Parts(Protocol):
    """What drivers are made from; a node daemon's own parts have it."""

    paths: Paths
    files: IFiles
    threads: IThreads
    runner: IProcessRunner
    clock: Any
    reactor: Any
    now: Callable[[], float]


def load_hypervisors(parts: Parts) -> Mapping[str, IHypervisor]:
    """Every driver that is built, by its name; what a node lacks for one is told by the driver's `verify`."""
    return {"fake": FakeHypervisor(parts.files, parts.paths, parts.now), "kvm": kvm_hypervisor(parts)}


def kvm_hypervisor(parts: Parts) -> KvmHypervisor:
    """The KVM driver with all that it works with."""
    network = Network(parts.paths, parts.files, parts.runner)
    uids = UidPool(parts.paths, parts.files, SystemEntropy(), user_ids_in_use)
    return KvmHypervisor(
        paths=parts.paths,
        files=parts.files,
        runner=parts.runner,
        clock=parts.clock,
        monitors=Monitors(UnixQmpConnector(parts.reactor, parts.clock)),
        processes=LinuxMachineProcesses(parts.reactor),
        probe=AccelerationProbe(parts.paths, parts.files, parts.runner),
        network=network,
        uids=uids,
        remains=Remains(parts.files, network, uids),
    )
