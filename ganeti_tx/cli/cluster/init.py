"""gnt-cluster init: all options read and typed here, the work done by ganeti-bootstrap."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.bootstrap import run_bootstrap
from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.cluster.init_options import OPTIONS
from ganeti_tx.cli.options import ONE_HOST, Command
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.typed_options import by_ident, number, split_words, uid_ranges

_PLAIN = (
    "candidate_pool_size", "file_storage_dir", "shared_file_storage_dir", "gluster_storage_dir", "mac_prefix",
    "master_netdev", "modify_etc_hosts", "modify_ssh_setup", "secondary_ip", "vg_name", "maintain_node_health",
    "default_iallocator", "default_iallocator_params", "prealloc_wipe_disks", "use_external_mip_script",
    "install_image", "zeroing_image", "enabled_user_shutdown", "ssh_key_bits", "ssh_key_type",
)  # fmt: skip
_IP_VERSIONS = ("4", "6")
#: design-2.0, cluster defaults: --defaults KEY=VALUE,...
_OLD_DEFAULTS = ("bridge", "hypervisor")


def init(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Set this node up as the first of a cluster."""
    return run_bootstrap(session, "init", init_document(names[0], options))


def init_document(cluster_name: str, options: Parsed) -> dict[str, Any]:
    """What ganeti-bootstrap reads; what was not given is left out, so that the cluster's defaults hold.

    @raise UsageError: an option that cannot be read.
    @raise TypeEnforcementError: a parameter that is not known, or has a wrong value.
    """
    old = _old_defaults(options.old_defaults or {})
    document = {
        "cluster_name": cluster_name,
        **{name: getattr(options, name) for name in _PLAIN},
        "drbd_usermode_helper": options.drbd_helper,
        "enabled_hypervisors": _hypervisors(options.enabled_hypervisors, old.get("hypervisor")),
        "enabled_disk_templates": split_words(options.enabled_disk_templates),
        "compression_tools": split_words(options.compression_tools),
        "master_netmask": number("--master-netmask", options.master_netmask),
        "primary_ip_version": _ip_version(options.primary_ip_version),
        "uid_pool": uid_ranges("--uid-pool", options.uid_pool),
        "beparams": types.typed(options.beparams, types.BACKEND, "backend"),
        "ndparams": types.typed(options.ndparams or {}, types.NODE, "node"),
        "nicparams": types.typed({**_old_nic(old), **options.nicparams}, types.NIC, "NIC"),
        "hvparams": by_ident("--hypervisor-parameters", options.hvparams, types.HYPERVISOR, "hypervisor"),
        "diskparams": by_ident("--disk-parameters", options.diskparams, types.DISK_TEMPLATE, "disk template"),
        "hv_state": by_ident("--hypervisor-state", options.hv_state, {}, "hypervisor state"),
        "disk_state": by_ident("--disk-state", options.disk_state, {}, "disk state"),
        "ipolicy": ipolicy.policy_of(options),
    }
    return {name: value for name, value in document.items() if value not in (None, {}, [])}


def _hypervisors(text: str | None, first: str | None) -> list[str] | None:
    """The first one is the default for new instances, so an old default goes there."""
    if first is None:
        return split_words(text)
    return [first, *(name for name in split_words(text) or () if name != first)]


def _ip_version(text: str | int) -> int:
    if str(text) not in _IP_VERSIONS:
        raise UsageError(f"option --primary-ip-version: invalid version {text!r}: give 4 or 6")
    return int(text)


def _old_defaults(given: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in given:
        if key not in _OLD_DEFAULTS:
            raise UsageError(
                f"option --defaults: {key!r} has no default any more; known are {', '.join(_OLD_DEFAULTS)}"
            )
    return given


def _old_nic(old: Mapping[str, Any]) -> dict[str, Any]:
    return {"mode": "bridged", "link": old["bridge"]} if "bridge" in old else {}


INIT = Command(init, ONE_HOST, OPTIONS)
