"""Puts the whole command line together."""

import shlex
from collections.abc import Mapping, Sequence

from attrs import frozen

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
from ganeti_tx.node.hypervisor.kvm.command.firmware import tpm_argv, uefi_argv
from ganeti_tx.node.hypervisor.kvm.command.machine import (
    confinement_argv,
    cpu_argv,
    identity_argv,
    kernel_argv,
    machine_argv,
)
from ganeti_tx.node.hypervisor.kvm.command.nics import nics_argv
from ganeti_tx.node.hypervisor.kvm.command.places import Place, Places
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan


@frozen
class Machine:
    """How QEMU is started, and where the devices are then that come and go."""

    argv: Sequence[str]
    places: Mapping[str, Place]


def qemu_argv(plan: QemuPlan) -> list[str]:
    """The program and all arguments. @raise HypervisorError: the plan cannot be carried out by any QEMU."""
    return [*planned_machine(plan).argv]


def planned_machine(plan: QemuPlan) -> Machine:
    """The whole machine. @raise HypervisorError: the plan cannot be carried out by any QEMU."""
    places = Places(plan.pci_bus, plan.params.kvm_pci_reservations, dict(plan.places))
    argv = [
        plan.params.kvm_path,
        *identity_argv(plan),
        *machine_argv(plan),
        *uefi_argv(plan),
        *cpu_argv(plan),
        *kernel_argv(plan),
        *control_argv(plan),
        *serial_argv(plan),
        *tpm_argv(plan),
        *balloon_argv(),
        *virtio_serial_argv(plan),
        *disks_argv(plan, places),
        *removable_argv(plan, places),
        *nics_argv(plan, places),
        *display_argv(plan),
        *usb_argv(plan),
        *sound_argv(plan),
        *confinement_argv(plan),
        *extra_argv(plan.params.kvm_extra),
    ]
    return Machine(argv, places.given)


def extra_argv(text: str) -> list[str]:
    """The parameter `kvm_extra`, cut as a shell would. @raise HypervisorError: an open quote."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise HypervisorError(f"kvm_extra: {error}: {text!r}")
