"""Machines whose TPM has ended before them: the guest runs on without, cannot be migrated, and QEMU says nothing of it."""

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.tpm import PROGRAM, SoftwareTpm

ENDED = f"its TPM ({PROGRAM}) has ended; it has one again when it is stopped and started"


@frozen
class EndedTpms:
    """Asks the kernel for each TPM's process."""

    machines: OwnMachines
    tpm: SoftwareTpm

    def check(self, layout: InstanceLayout, params: KvmParams) -> None:
        """Of a machine that runs with these parameters. @raise HypervisorError: its TPM has ended."""
        if params.tpm and not self.tpm.lives(layout):
            raise HypervisorError(ENDED)

    def faults(self) -> list[str]:
        """What is to be said of the machines that run here."""
        return [f"instance {layout.name}: {ENDED}" for layout in self.machines.layouts() if self._is_without(layout)]

    def _is_without(self, layout: InstanceLayout) -> bool:
        """One of which nothing can be read is told of when it is looked at."""
        try:
            state = self.machines.state(layout)
        except HypervisorError:
            return False
        if state is None or state.params is None or not state.params.tpm:
            return False
        return self.machines.pid(layout) is not None and not self.tpm.lives(layout)
