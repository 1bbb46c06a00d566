"""Puts the whole command line together."""

import shlex

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.command.devices import (
    balloon_argv,
    control_argv,
    serial_argv,
    sound_argv,
    usb_argv,
    virtio_serial_argv,
)
from ganeti_tx.node.hypervisor.kvm.command.disks import disks_argv, removable_argv
from ganeti_tx.node.hypervisor.kvm.command.display import display_argv
from ganeti_tx.node.hypervisor.kvm.command.machine import (
    confinement_argv,
    cpu_argv,
    identity_argv,
    kernel_argv,
    machine_argv,
)
from ganeti_tx.node.hypervisor.kvm.command.nics import nics_argv
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.command.slots import PciSlots


def qemu_argv(plan: QemuPlan) -> list[str]:
    """The program and all arguments. @raise HypervisorError: the plan cannot be carried out by any QEMU."""
    slots = PciSlots(plan.pci_bus, plan.params.kvm_pci_reservations)
    return [
        plan.params.kvm_path,
        *identity_argv(plan),
        *machine_argv(plan),
        *cpu_argv(plan),
        *kernel_argv(plan),
        *control_argv(plan),
        *serial_argv(plan),
        *balloon_argv(),
        *virtio_serial_argv(plan),
        *disks_argv(plan, slots),
        *removable_argv(plan, slots),
        *nics_argv(plan, slots),
        *display_argv(plan),
        *usb_argv(plan),
        *sound_argv(plan),
        *confinement_argv(plan),
        *extra_argv(plan.params.kvm_extra),
    ]


def extra_argv(text: str) -> list[str]:
    """The parameter `kvm_extra`, cut as a shell would. @raise HypervisorError: an open quote."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise HypervisorError(f"kvm_extra: {error}: {text!r}")
