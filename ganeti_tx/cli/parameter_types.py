"""Parameters typed on the command line to the types the cluster knows (Ganeti 3.0 configuration table)."""

from collections.abc import Callable, Mapping
from typing import Any

from ganeti_tx.cli.values import InvalidValue, parse_bool, parse_float, parse_int, parse_size
from ganeti_tx.errors import TypeEnforcementError

DEFAULT = "default"
_READERS: dict[str, Callable[[str], Any]] = {
    "bool": parse_bool,
    "float": parse_float,
    "int": parse_int,
    "size": parse_size,
}

BACKEND: Mapping[str, str] = {
    "always_failover": "bool",
    "auto_balance": "bool",
    "maxmem": "size",
    "memory": "size",
    "minmem": "size",
    "spindle_use": "int",
    "vcpus": "int",
}
NODE: Mapping[str, str] = {
    "cpu_speed": "float",
    "exclusive_storage": "bool",
    "oob_program": "string",
    "ovs": "bool",
    "ovs_link": "string",
    "ovs_name": "string",
    "spindle_count": "int",
    "ssh_port": "int",
}
NIC: Mapping[str, str] = {"link": "string", "mode": "string", "vlan": "string"}
#: Of all hypervisors together, those that are not text; no name has two types.
HYPERVISOR: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "acpi", "pae", "serial_console", "spice_playback_compression", "spice_use_tls", "spice_use_vdagent",
            "use_bootloader", "use_chroot", "use_guest_agent", "use_localtime", "user_shutdown", "vhost_net",
            "viridian", "vnc_tls", "vnc_x509_verify", "vnet_hdr",
        ),
        "bool",
    ),
    **dict.fromkeys(
        (
            "cpu_cap", "cpu_cores", "cpu_sockets", "cpu_threads", "cpu_weight", "kvm_pci_reservations",
            "migration_bandwidth", "migration_downtime", "migration_port", "num_ttys", "serial_speed",
            "spice_ip_version", "startup_timeout", "virtio_net_queues",
        ),
        "int",
    ),
}  # fmt: skip
#: Of all disk templates together, those that are not text; no name has two types.
DISK_TEMPLATE: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "c-delay-target", "c-fill-target", "c-max-rate", "c-min-rate", "c-plan-ahead", "data-stripes",
            "meta-stripes", "port", "resync-rate", "stripes",
        ),
        "int",
    ),
    **dict.fromkeys(("dynamic-resync", "meta-barriers"), "bool"),
}  # fmt: skip
ISPEC: Mapping[str, str] = dict.fromkeys(("min", "max", "std"), "int")
ISPEC_SIZE: Mapping[str, str] = dict.fromkeys(("min", "max", "std"), "size")
ISPEC_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("cpu-count", "disk-count", "nic-count", "spindle-use"), "int"),
    **dict.fromkeys(("disk-size", "memory-size"), "size"),
}


def typed(given: Mapping[str, Any], types: Mapping[str, str], what: str, *, closed: bool = True) -> dict[str, Any]:
    """Each value in its type; the word "default" stays. With `closed` only the names of the table are known.

    @raise TypeEnforcementError: an unknown name, or a value that does not fit.
    """
    return {name: _typed_one(name, value, types, what, closed) for name, value in given.items()}


def _typed_one(name: str, value: Any, types: Mapping[str, str], what: str, closed: bool) -> Any:
    if closed and name not in types:
        raise TypeEnforcementError(f"unknown {what} parameter {name!r}; known are {', '.join(sorted(types))}")
    read = _READERS.get(types.get(name, "string"))
    if value is None or value == DEFAULT:
        return DEFAULT if value == DEFAULT else None
    if read is None:
        return value
    if isinstance(value, bool):
        if read is parse_bool:
            return value
        raise TypeEnforcementError(f"{what} parameter {name!r} needs a value: {name}=VALUE")
    try:
        return read(value)
    except InvalidValue as error:
        raise TypeEnforcementError(f"{what} parameter {name!r}: {error}") from None
