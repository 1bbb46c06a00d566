"""Parameters typed on the command line to the types the cluster knows (Ganeti 3.0 configuration table)."""

from collections.abc import Callable, Mapping
from importlib import import_module
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

#: Written out, for most commands load nothing of the model; test/cli/test_parameter_types holds them against it.
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
ISPEC: Mapping[str, str] = dict.fromkeys(("min", "max", "std"), "int")
ISPEC_SIZE: Mapping[str, str] = dict.fromkeys(("min", "max", "std"), "size")
ISPEC_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("cpu-count", "disk-count", "nic-count", "spindle-use"), "int"),
    **dict.fromkeys(("disk-size", "memory-size"), "size"),
}


def hypervisor_params(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a hypervisor in their types. Their declarations are loaded for who gives any: most commands do not.

    @raise TypeEnforcementError: a value that does not fit; the master knows which names there are.
    """
    if not given:
        return {}
    types = import_module("ganeti_tx.cli.declared_parameters").HYPERVISOR
    return typed(given, types, "hypervisor", closed=False)


def typed(given: Mapping[str, Any], types: Mapping[str, str], what: str, *, closed: bool = True) -> dict[str, Any]:
    """Each value in its type; the word "default" stays. With `closed` only the names of the table are known.

    @raise TypeEnforcementError: an unknown name, or a value that does not fit.
    """
    return {name: _typed_one(name, value, types, what, closed) for name, value in given.items()}


def _typed_one(name: str, value: Any, types: Mapping[str, str], what: str, closed: bool) -> Any:
    if closed and name not in types:
        raise TypeEnforcementError(
            f"Unknown parameter {name!r}; known {what} parameters are {', '.join(sorted(types))}"
        )
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
