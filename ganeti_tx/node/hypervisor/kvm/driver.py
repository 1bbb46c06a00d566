"""The KVM driver with all that it works with, from what knows nothing of the others to what needs many."""

from ganeti_tx.node.hypervisor.kinds import HypervisorParts
from ganeti_tx.node.hypervisor.kvm.acceleration import AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.agent.freezing import Freezing
from ganeti_tx.node.hypervisor.kvm.agent.guests import AgentGuests
from ganeti_tx.node.hypervisor.kvm.agent.shutting_down import AgentShutdown
from ganeti_tx.node.hypervisor.kvm.agent.talk import GuestAgents
from ganeti_tx.node.hypervisor.kvm.coming_machines import ComingMachines
from ganeti_tx.node.hypervisor.kvm.consoles import Consoles
from ganeti_tx.node.hypervisor.kvm.control_group import ControlGroup
from ganeti_tx.node.hypervisor.kvm.copying import Copying
from ganeti_tx.node.hypervisor.kvm.ended_tpms import EndedTpms
from ganeti_tx.node.hypervisor.kvm.ending import Ending
from ganeti_tx.node.hypervisor.kvm.ends import Ends
from ganeti_tx.node.hypervisor.kvm.firmware import Firmware
from ganeti_tx.node.hypervisor.kvm.held_disks import HeldDisks
from ganeti_tx.node.hypervisor.kvm.host_devices import LinuxHostDevices
from ganeti_tx.node.hypervisor.kvm.hotplug.disks import DiskPlug
from ganeti_tx.node.hypervisor.kvm.hotplug.nics import NicPlug
from ganeti_tx.node.hypervisor.kvm.hotplug.plugging import Plugging
from ganeti_tx.node.hypervisor.kvm.human_monitor import HumanMonitor
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.node.hypervisor.kvm.known_types import KnownTypes
from ganeti_tx.node.hypervisor.kvm.launching import Launching
from ganeti_tx.node.hypervisor.kvm.looking import Looking
from ganeti_tx.node.hypervisor.kvm.migration_tls import MigrationKeys
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.node_facts import NodeFacts
from ganeti_tx.node.hypervisor.kvm.node_lacks import NodeLacks
from ganeti_tx.node.hypervisor.kvm.on_this_node import OnThisNode
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.planning import Planning
from ganeti_tx.node.hypervisor.kvm.powering_off import PoweringOff
from ganeti_tx.node.hypervisor.kvm.process_owners import user_ids_in_use
from ganeti_tx.node.hypervisor.kvm.processes import LinuxQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import UnixQmpConnector
from ganeti_tx.node.hypervisor.kvm.rebooting import Rebooting
from ganeti_tx.node.hypervisor.kvm.receiving import Receiving
from ganeti_tx.node.hypervisor.kvm.remains import Remains
from ganeti_tx.node.hypervisor.kvm.resizing import Resizing
from ganeti_tx.node.hypervisor.kvm.sending import Sending
from ganeti_tx.node.hypervisor.kvm.starting import Starting
from ganeti_tx.node.hypervisor.kvm.tpm import SoftwareTpm, processes_having
from ganeti_tx.node.hypervisor.kvm.tpm_user import account
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool
from ganeti_tx.node.hypervisor.kvm.version import QemuVersion
from ganeti_tx.node.hypervisor.scopes import Scopes
from ganeti_tx.runtime.entropy import SystemEntropy


def register(parts: HypervisorParts) -> KvmHypervisor:
    """See `kinds.Register`."""
    paths, files, runner, clock = parts.paths, parts.files, parts.runner, parts.clock
    processes, host, scopes = LinuxQemuProcesses(parts.reactor), LinuxHostDevices(), Scopes(files.exists)
    machines = OwnMachines(paths, files, processes, Monitors(UnixQmpConnector(parts.reactor, clock)))
    network, group, firmware = Network(paths, files, runner), ControlGroup(scopes), Firmware(paths, files)
    uids = UidPool(paths, files, SystemEntropy(), user_ids_in_use)
    tpm = SoftwareTpm(files, runner, processes, clock, scopes, host, processes_having)
    here = OnThisNode(paths, files, runner)
    agents, keys = GuestAgents(parts.reactor, clock), MigrationKeys(files, host)
    tpms = EndedTpms(machines, tpm)
    remains = Remains(files, network, uids, tpm, group)
    ends = Ends(machines, processes, remains)
    human = HumanMonitor(parts.reactor, clock)
    powering_off = PoweringOff(files, clock, machines, AgentShutdown(agents), human)
    ending = Ending(clock, machines, processes, remains, powering_off, human)
    version, types = QemuVersion(files, runner), KnownTypes(files, runner)
    probe = AccelerationProbe(paths, files, runner)
    planning = Planning(
        paths, files, here, version, types, NodeLacks(files, probe, account, uids), probe, network, group
    )
    launching = Launching(files, runner, machines, network, firmware, tpm, group)
    starting = Starting(machines, remains, planning, uids, launching, ending, ends)
    return KvmHypervisor(
        machines=machines,
        planning=planning,
        starting=starting,
        ending=ending,
        rebooting=Rebooting(machines, planning, starting, ending),
        ends=ends,
        looking=Looking(machines, processes),
        facts=NodeFacts(files, version, tpms),
        consoles=Consoles(machines, here),
        network=network,
        firmware=firmware,
        plugging=Plugging(machines, DiskPlug(host, clock), NicPlug(host, network)),
        resizing=Resizing(machines),
        held=HeldDisks(machines),
        guests=AgentGuests(machines, files, agents, Freezing(files, clock, agents)),
        sending=Sending(machines, files, clock, ending, keys, tpms),
        receiving=Receiving(
            machines, files, clock, planning, starting, ending, network, keys, ComingMachines(parts.reactor, machines)
        ),
        copying=Copying(machines, clock, keys),
    )
