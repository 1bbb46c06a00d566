"""The KVM driver with all that it works with."""

from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.kvm.acceleration import AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.control_group import ControlGroup
from ganeti_tx.node.hypervisor.kvm.ending import Ending
from ganeti_tx.node.hypervisor.kvm.ends import Ends
from ganeti_tx.node.hypervisor.kvm.firmware import Firmware
from ganeti_tx.node.hypervisor.kvm.growing import GrowingKvm
from ganeti_tx.node.hypervisor.kvm.guest_agent import UnixGuestAgents
from ganeti_tx.node.hypervisor.kvm.host_devices import LinuxHostDevices
from ganeti_tx.node.hypervisor.kvm.hotplug.disks import DiskPlug
from ganeti_tx.node.hypervisor.kvm.hotplug.nics import NicPlug
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.on_this_node import OnThisNode
from ganeti_tx.node.hypervisor.kvm.process_owners import user_ids_in_use
from ganeti_tx.node.hypervisor.kvm.processes import LinuxQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import UnixQmpConnector
from ganeti_tx.node.hypervisor.kvm.remains import Remains
from ganeti_tx.node.hypervisor.kvm.tpm import SoftwareTpm
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool
from ganeti_tx.node.hypervisor.kvm.version import QemuVersion
from ganeti_tx.runtime.entropy import SystemEntropy


def register(parts: HypervisorParts) -> GrowingKvm:
    """See `kinds.Register`."""
    network = Network(parts.paths, parts.files, parts.runner)
    uids = UidPool(parts.paths, parts.files, SystemEntropy(), user_ids_in_use)
    monitors, processes = Monitors(UnixQmpConnector(parts.reactor, parts.clock)), LinuxQemuProcesses(parts.reactor)
    tpm = SoftwareTpm(parts.files, parts.runner, processes, parts.clock)
    group = ControlGroup(parts.files.exists)
    remains = Remains(parts.files, network, uids, tpm, group)
    agents, host = UnixGuestAgents(parts.reactor, parts.clock), LinuxHostDevices()
    ending = Ending(parts.files, parts.clock, monitors, processes, remains, agents)
    return GrowingKvm(
        paths=parts.paths,
        files=parts.files,
        runner=parts.runner,
        monitors=monitors,
        processes=processes,
        probe=AccelerationProbe(parts.paths, parts.files, parts.runner),
        network=network,
        uids=uids,
        remains=remains,
        ending=ending,
        ends=Ends(ending, processes),
        tpm=tpm,
        group=group,
        firmware=Firmware(parts.paths, parts.files),
        here=OnThisNode(parts.paths, parts.files, parts.runner),
        disks=DiskPlug(host, parts.clock),
        nics=NicPlug(host, network),
        version=QemuVersion(parts.files, parts.runner),
    )
