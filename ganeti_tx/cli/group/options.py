"""The settings of a node group as options, and how they are read."""

from typing import Any

from ganeti_tx.cli import declared_parameters
from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.options import DISK_STATE, HYPERVISOR_STATE, NODE_PARAMETERS, Option
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.typed_options import by_ident, by_place

ALLOC_POLICY = Option(
    ("--alloc-policy",), "alloc_policy",
    "whether allocators may choose the group: preferred, last_resort (when no other has room) or unallocable", "string",
    metavar="POLICY",
)  # fmt: skip
DISK_PARAMETERS = Option(
    ("-D", "--disk-parameters"), "diskparams", "parameters of a disk template, TEMPLATE:KEY=VALUE,...", "identkeyval",
    [], "append",
)  # fmt: skip
SETTINGS = (
    ALLOC_POLICY, NODE_PARAMETERS, DISK_PARAMETERS, HYPERVISOR_STATE, DISK_STATE, *ipolicy.GROUP_OPTIONS,
)  # fmt: skip


def settings_of(options: Parsed) -> dict[str, Any]:
    """The parameters of the opcodes; None is what was not given.

    @raise UsageError: an option that cannot be read. @raise TypeEnforcementError: a parameter that does not fit.
    """
    disks = by_ident("--disk-parameters", options.diskparams, declared_parameters.DISK_TEMPLATE, "disk template")
    return {
        "alloc_policy": options.alloc_policy,
        "ndparams": types.typed(options.ndparams or {}, types.NODE, "node") or None,
        "diskparams": disks or None,
        "hv_state": by_ident("--hypervisor-state", options.hv_state, {}, "hypervisor state") or None,
        "disk_state": by_place("--disk-state", options.disk_state, "disk state") or None,
        "ipolicy": ipolicy.own_part_of(options) or None,
    }
