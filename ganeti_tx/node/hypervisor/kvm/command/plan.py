"""Everything the command line of one instance follows from."""

from collections.abc import Mapping, Sequence

from attrs import frozen

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.acceleration import Acceleration
from ganeti_tx.node.hypervisor.kvm.command.places import Place
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.state import NicState
from ganeti_tx.runtime.paths import Paths


def pci_bus(params: KvmParams) -> str:
    """QEMU's name of the first bus."""
    return "pcie.0" if "q35" in params.machine_version else "pci.0"


@frozen
class QemuPlan:
    """One instance about to be started; `run_as` is the user QEMU becomes, as a name or "uid:gid".

    @ivar incoming: whether it waits for the machine, which then runs at once. @ivar stopped: unless its guest had been stopped.
    @ivar disks_come: whether its disks are written from elsewhere until then.
    @ivar dimms: of its memory, what is in modules that came while it ran: the MiB of each.
    @ivar plugged_vcpus: of its processors, how many came while it ran.
    @ivar places: where devices must be, by QEMU's ids, in a machine that takes over from one that runs.
    """

    spec: InstanceSpec
    params: KvmParams
    disks: Sequence[AttachedDisk]
    nics: Sequence[NicState]
    files: InstanceLayout
    acceleration: Acceleration
    run_as: str = ""
    places: Mapping[str, Place] = {}
    incoming: bool = False
    stopped: bool = False
    disks_come: bool = False
    dimms: Sequence[int] = ()
    plugged_vcpus: int = 0

    @property
    def paths(self) -> Paths:
        """The node's paths."""
        return self.files.paths

    @property
    def pci_bus(self) -> str:
        """QEMU's name of the first bus."""
        return pci_bus(self.params)

    @property
    def memory(self) -> int:
        """MiB, with those in modules."""
        return int(self.spec.beparams["maxmem"])

    @property
    def vcpus(self) -> int:
        """Virtual processors, with those that came while it ran."""
        return int(self.spec.beparams["vcpus"])

    def boot_index(self, device: str) -> int | None:
        """The place of "disk", "network", ... in the boot order; None when not booted from (or a kernel is given)."""
        order = self.params.boot_order.split(",")
        if self.params.kernel_path or device not in order:
            return None
        return order.index(device) + 1
