"""gnt-cluster modify and redist-conf."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.cluster.modify_options import OPTIONS
from ganeti_tx.cli.options import DRY_RUN, PRIORITY, SUBMITTING, Command, Option
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.cli.typed_options import by_ident, number, split_words, uid_ranges
from ganeti_tx.cli.values import InvalidValue, parse_bool, parse_float
from ganeti_tx.errors import ExitCode

_PLAIN = (
    "candidate_pool_size", "max_running_jobs", "max_tracked_jobs", "install_image", "instance_communication_network",
    "mac_prefix", "master_netdev", "vg_name", "maintain_node_health", "drbd_helper", "default_iallocator",
    "prealloc_wipe_disks", "use_external_mip_script", "modify_etc_hosts", "enabled_user_shutdown", "file_storage_dir",
    "shared_file_storage_dir", "zeroing_image", "default_iallocator_params",
)  # fmt: skip


def modify(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Change settings of the cluster."""
    given = {name: value for name, value in settings_of(options).items() if value is not None}
    if not given:
        raise UsageError("nothing to change: give at least one of the options, such as --candidate-pool-size=5")
    run_opcode(session, options, opcode("OP_CLUSTER_SET_PARAMS", **given))
    return ExitCode.SUCCESS


def settings_of(options: Parsed) -> dict[str, Any]:
    """The opcode's parameters; None is what was not given.

    @raise UsageError: an option that cannot be read. @raise TypeEnforcementError: a parameter that does not fit.
    """
    reserved = options.reserved_lvs
    return {
        **{name: getattr(options, name) for name in _PLAIN},
        "enabled_hypervisors": split_words(options.enabled_hypervisors),
        "enabled_disk_templates": split_words(options.enabled_disk_templates),
        "compression_tools": split_words(options.compression_tools),
        "reserved_lvs": split_words(reserved),
        "master_netmask": number("--master-netmask", options.master_netmask),
        "uid_pool": uid_ranges("--uid-pool", options.uid_pool),
        "add_uids": uid_ranges("--add-uids", options.add_uids),
        "remove_uids": uid_ranges("--remove-uids", options.remove_uids),
        "beparams": types.typed(options.beparams, types.BACKEND, "backend") or None,
        "ndparams": types.typed(options.ndparams or {}, types.NODE, "node") or None,
        "nicparams": types.typed(options.nicparams, types.NIC, "NIC") or None,
        "hvparams": by_ident("--hypervisor-parameters", options.hvparams, types.HYPERVISOR, "hypervisor") or None,
        "diskparams": by_ident("--disk-parameters", options.diskparams, types.DISK_TEMPLATE, "disk template") or None,
        "hv_state": by_ident("--hypervisor-state", options.hv_state, {}, "hypervisor state") or None,
        "disk_state": by_ident("--disk-state", options.disk_state, {}, "disk state") or None,
        "ipolicy": ipolicy.changes_of(options) or None,
        "enabled_data_collectors": _each(options.enabled_data_collectors, parse_bool) or None,
        "data_collector_interval": _each(options.data_collector_interval, _microseconds) or None,
    }


def _each(given: Mapping[str, Any], read: Any) -> dict[str, Any]:
    """@raise UsageError: a value that cannot be read."""
    found = {}
    for name, value in given.items():
        try:
            found[name] = value if isinstance(value, bool) else read(str(value))
        except InvalidValue as error:
            raise UsageError(f"data collector {name!r}: {error}") from None
    return found


def _microseconds(text: str) -> int:
    return round(parse_float(text) * 1_000_000)


def redistribute(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Send the configuration and the key files to all nodes once more."""
    run_opcode(session, options, opcode("OP_CLUSTER_REDIST_CONF"))
    return ExitCode.SUCCESS


#: Accepted, as nothing is asked.
YES = Option(("--yes-do-it",), "yes_do_it", "really do it", default=False, action="store_true")
MODIFY = Command(modify, (), OPTIONS)
REDIST_CONF = Command(redistribute, (), (*SUBMITTING, DRY_RUN, PRIORITY, YES))
