"""The fields of instances that hold parameters of hypervisor and backend."""

from collections.abc import Callable, Mapping
from typing import Any

from ganeti_tx.model.hypervisors import CLUSTER_ONLY, HYPERVISORS
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.params.backend import BackendParams, fill_beparams
from ganeti_tx.model.params.hypervisor import without_global
from ganeti_tx.model.params.kinds import Size, types_of
from ganeti_tx.query.instance_context import InstanceContext
from ganeti_tx.query.language.field import Field, Gives, Kind, computed, stored

KINDS: Mapping[Any, Kind] = {bool: Kind.BOOL, int: Kind.NUMBER, float: Kind.FLOAT, Size: Kind.UNIT}
BE_TITLES = {"auto_balance": "Auto_balance", "maxmem": "ConfigMaxMem", "minmem": "ConfigMinMem", "vcpus": "ConfigVCPUs"}
HV_TITLES = {
    "acpi": "ACPI",
    "boot_order": "Boot_order",
    "cdrom_image_path": "CDROM_image_path",
    "cpu_type": "cpu_type",
    "disk_type": "Disk_type",
    "initrd_path": "Initrd_path",
    "kernel_path": "Kernel_path",
    "nic_type": "NIC_type",
    "pae": "PAE",
    "pci_pass": "pci_pass",
    "vnc_bind_address": "VNC_bind_address",
}


def backend_value(key: str) -> Callable[[InstanceContext], Callable[[Instance], object]]:
    """One filled backend parameter."""

    def bind(context: InstanceContext) -> Callable[[Instance], object]:
        default = fill_beparams(context.view.cluster)[key]
        return lambda instance: instance.beparams.get(key, default)

    return bind


def hypervisor_value(key: str) -> Callable[[InstanceContext], Callable[[Instance], object]]:
    """One hypervisor parameter that is in force; None where the hypervisor has none of that name."""
    unset = {word: kind.unset.get(key) for word, kind in HYPERVISORS.items()}

    def bind(context: InstanceContext) -> Callable[[Instance], object]:
        def value(instance: Instance) -> object:
            own, base = instance.hvparams, context.hv_base(instance)
            return own[key] if key in own else base.get(key, unset[instance.hypervisor])

        return value

    return bind


def backend_field(key: str, name: str = "", title: str = "") -> Field:
    """The field of a backend parameter, or of another name for it."""
    kind = KINDS[types_of(BackendParams)[key]]
    doc = f'The "{key}" backend parameter'
    return Field(name or f"be/{key}", title or BE_TITLES.get(key, f"be/{key}"), kind, doc, backend_value(key))


def hypervisor_types() -> dict[str, Any]:
    """The types of all parameters that an instance may set, whatever runs it."""
    types = {key: declared for kind in HYPERVISORS.values() for key, declared in types_of(kind.params).items()}
    return {key: declared for key, declared in sorted(types.items()) if key not in CLUSTER_ONLY}


def hypervisor_field(key: str, declared: Any) -> Field:
    """The field of a hypervisor parameter."""
    kind, title = KINDS.get(declared, Kind.OTHER), HV_TITLES.get(key, f"hv/{key}")
    return Field(f"hv/{key}", title, kind, f'The "{key}" hypervisor parameter', hypervisor_value(key), Gives.MAYBE)


PARAM_FIELDS = [
    Field(
        "beparams", "BackendParameters", Kind.OTHER, "Backend parameters (filled)", lambda context: context.beparams()
    ),
    Field(
        "hvparams",
        "HypervisorParameters",
        Kind.OTHER,
        "Hypervisor parameters (filled)",
        lambda context: context.hvparams,
    ),
    stored("custom_beparams", "CustomBackendParameters", Kind.OTHER, "Backend parameters of its own", "beparams"),
    computed(
        "custom_hvparams",
        "CustomHypervisorParameters",
        Kind.OTHER,
        "Hypervisor parameters of its own",
        lambda instance: without_global(instance.hvparams),
    ),
    computed(
        "custom_nicparams",
        "CustomNicParameters",
        Kind.OTHER,
        "NIC parameters of its own, a set for each NIC",
        lambda instance: [nic.nicparams for nic in instance.nics],
    ),
    *(backend_field(key) for key in types_of(BackendParams)),
    backend_field("maxmem", "be/memory"),
    backend_field("vcpus", "vcpus"),
    *(hypervisor_field(key, declared) for key, declared in hypervisor_types().items()),
]
