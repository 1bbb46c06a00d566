"""Parameters typed on the command line to the types the cluster knows (Ganeti 3.0 configuration table)."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from ganeti_tx.cli.values import InvalidValue, parse_bool, parse_float, parse_int, parse_size
from ganeti_tx.errors import TypeEnforcementError
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.params.kinds import Size, types_of

DEFAULT = "default"
_READERS: dict[str, Callable[[str], Any]] = {
    "bool": parse_bool,
    "float": parse_float,
    "int": parse_int,
    "size": parse_size,
}
_WORDS: Mapping[object, str] = {bool: "bool", float: "float", int: "int", Size: "size"}


def words_of(params: type[Struct]) -> Mapping[str, str]:
    """The type of each parameter of a table, in a word."""
    return {name: _WORDS.get(declared, "string") for name, declared in types_of(params).items()}


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
#: Of all hypervisors together; no name has two types.
HYPERVISOR = {name: word for kind in HYPERVISORS.values() for name, word in words_of(kind.params).items()}
#: Of all disk templates together; no name has two types.
DISK_TEMPLATE = {name: word for template in TEMPLATES.values() for name, word in words_of(template.params).items()}
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
