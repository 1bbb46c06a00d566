"""What a scoped user may put into a job: each opcode with the parameters that can be judged.

A parameter that is not listed keeps its default. None of those listed names a thing that others may own, save nodes,
which are judged by their group; and none reaches into the nodes themselves, as hypervisor parameters with paths do.
Nor is `conflicts_check` among them. Names need not be in DNS, but those of hosts are nobody's (`named.new_names_of`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ganeti_tx.model import hypervisors as kinds
from ganeti_tx.model.disk_template import COMMON_KEYS
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.hypervisor import HypervisorKind
from ganeti_tx.model.nic import POOL
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.model.opcodes.named import nodes_of
from ganeti_tx.model.opcodes.types import ChangeAction, InstanceCreateMode, NicKey
from ganeti_tx.model.params.kinds import NONE
from ganeti_tx.rapi.http.http_errors import HttpError, forbidden

#: Those that steer the job; the jobs depended on are judged apart.
COMMON = frozenset({"dry_run", "debug_level", "priority", "depends", "comment", "reason"})

_CREATE = (
    "instance_name wait_for_sync name_check ip_check opportunistic_locking beparams disks disk_template hvparams "
    "hypervisor iallocator identify_defaults mode nics no_install osparams osparams_private osparams_secret os_type pnode "
    "snode start tags"
)
_SET_PARAMS = (
    "instance_name force nics disks beparams runtime_mem hvparams disk_template pnode remote_node iallocator os_name "
    "osparams osparams_private wait_for_sync offline hotplug hotplug_if_possible"
)
PARAMETERS: Mapping[str, frozenset[str]] = {
    op_id: frozenset(text.split())
    for op_id, text in {
        "OP_BACKUP_EXPORT": "instance_name target_node compress shutdown shutdown_timeout remove_instance "
        "ignore_remove_failures zero_free_space zeroing_timeout_fixed zeroing_timeout_per_mib long_sleep",
        "OP_INSTANCE_ACTIVATE_DISKS": "instance_name ignore_size wait_for_sync",
        "OP_INSTANCE_CREATE": _CREATE,
        "OP_INSTANCE_DEACTIVATE_DISKS": "instance_name force",
        "OP_INSTANCE_FAILOVER": "instance_name shutdown_timeout ignore_consistency target_node cleanup iallocator "
        "secondary_node wait_for_sync",
        "OP_INSTANCE_GROW_DISK": "instance_name disk amount absolute wait_for_sync",
        "OP_INSTANCE_MIGRATE": "instance_name mode live target_node allow_runtime_changes cleanup iallocator "
        "allow_failover secondary_node copy_disks",
        "OP_INSTANCE_QUERY_DATA": "instances static use_locking",
        "OP_INSTANCE_REBOOT": "instance_name reboot_type ignore_secondaries shutdown_timeout",
        "OP_INSTANCE_RECREATE_DISKS": "instance_name disks nodes iallocator",
        "OP_INSTANCE_REINSTALL": "instance_name os_type osparams osparams_private osparams_secret",
        "OP_INSTANCE_REMOVE": "instance_name shutdown_timeout ignore_failures",
        "OP_INSTANCE_RENAME": "instance_name new_name name_check ip_check",
        "OP_INSTANCE_REPLACE_DISKS": "instance_name early_release mode disks remote_node iallocator",
        "OP_INSTANCE_SET_PARAMS": _SET_PARAMS,
        "OP_INSTANCE_SHUTDOWN": "instance_name force timeout no_remember ignore_offline_nodes",
        "OP_INSTANCE_STARTUP": "instance_name force no_remember startup_paused shutdown_timeout beparams hvparams "
        "ignore_offline_nodes",
        "OP_OS_DIAGNOSE": "output_fields names",
        "OP_TAGS_DEL": "kind name tags",
        "OP_TAGS_SET": "kind name tags",
    }.items()
}

#: Of parameters that are objects, what may be in them.
HVPARAMS = frozenset(
    {"acpi", "boot_order", "disk_type", "nic_type", "pae", "reboot_behavior", "serial_console", "serial_speed"}
    | {"use_localtime"}
)
#: Those that keep a guest apart from its node.
HYPERVISORS = frozenset(word for word, kind in kinds.HYPERVISORS.items() if kind.confines)
DISK_KEYS = COMMON_KEYS | {"amount", "absolute"}
NIC_KEYS = frozenset({"ip", "mac", "name"})
#: Words for the address of a network card: none, or the first free one of the network that an administrator has put it into.
#: One that is named would be taken from whoever has it, as the node routes it to the instance; a name may resolve to one, too.
ADDRESSES = frozenset({"", NONE, POOL})
CHANGES = frozenset({ChangeAction.ADD, ChangeAction.MODIFY, ChangeAction.REMOVE})


def check_parameters(op: OpCode) -> None:
    """Refuse what cannot be judged. @raise HttpError: 403"""
    allowed = PARAMETERS.get(op.op_id())
    if allowed is None:
        raise refusal(f"submit {op.op_id()}")
    for field in msgspec.structs.fields(op):
        if field.name not in allowed | COMMON and getattr(op, field.name) != default_of(field):
            raise refusal(f"give '{field.name}' with {op.op_id()}")
    given = {field.name: getattr(op, field.name) for field in msgspec.structs.fields(op)}
    _check_hvparams(given.get("hvparams") or {})
    for params in _items(given.get("disks") or ()):
        _check_keys("disks", params, DISK_KEYS)
    for params in _items(given.get("nics") or ()):
        _check_keys("nics", params, NIC_KEYS)
        _check_address(params)
    if op.op_id() == "OP_INSTANCE_CREATE" and given["mode"] != InstanceCreateMode.CREATE:
        raise refusal(f"make instances in mode '{given['mode']}'")
    if "hypervisor" in given and given["hypervisor"] not in HYPERVISORS:  # without one, none that is known
        raise refusal(f"use the hypervisor '{given['hypervisor']}'")
    if "kind" in given and given["kind"] != TagKind.INSTANCE:
        raise refusal("change tags of anything but instances")


def node_names_of(op: OpCode) -> Iterator[str]:
    """Every node that an opcode names. @raise HttpError: 403, one is not named but described"""
    for name, node in nodes_of(op):
        if not isinstance(node, str):
            raise refusal(f"give '{name}' with {op.op_id()} as anything but names")
        yield node


def refusal(what: str) -> HttpError:
    """403, as it could touch what others own."""
    return forbidden(f"who is kept to some instances may not {what}")


def default_of(field: msgspec.structs.FieldInfo) -> object:
    """What a parameter is when nobody gives it."""
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def _items(changes: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """The parameters of disks or network cards, new ones or changes of some."""
    for each in changes:
        if isinstance(each, Mapping):
            yield each
        elif not isinstance(each, int):  # an index alone names a disk of the instance itself
            action = getattr(each, "action", ChangeAction.MODIFY)
            if action not in CHANGES:
                raise refusal(f"{action} disks or network cards")
            yield each.params


def _check_keys(name: str, params: Mapping[str, Any], allowed: frozenset[str]) -> None:
    for key in params:
        if str(key) not in allowed:
            raise refusal(f"give '{key}' in '{name}', only {', '.join(sorted(allowed))}")


def _check_hvparams(hvparams: Mapping[str, Any]) -> None:
    """Under whichever hypervisor the instance runs, it does not reach into its node by them."""
    _check_keys("hvparams", hvparams, HVPARAMS)
    for name, value in hvparams.items():
        if any(_reaches_node(kind, name, value) for kind in kinds.HYPERVISORS.values()):
            raise refusal(f"give '{name}' in 'hvparams' as '{value}', by which an instance reaches into its node")


def _reaches_node(kind: HypervisorKind, name: str, value: Any) -> bool:
    """Whether it is a value that the hypervisor takes, and reaches into a node by."""
    return value in kind.choices.get(name, (value,)) and kind.reaches_node(name, str(value))


def _check_address(params: Mapping[str, Any]) -> None:
    asked = params.get(NicKey.IP)
    if str(asked or "").lower() not in ADDRESSES:
        raise refusal(f"choose addresses of network cards, such as '{asked}', only {POOL} or {NONE}")
