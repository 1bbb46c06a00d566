"""Node parameters: what differs between machines."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.base import Params, Wire
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.kinds import DEFAULT, check, fill, refuse_global, typed

#: Whether no two disks lie on the same physical volume.
EXCLUSIVE = "exclusive_storage"
#: Not settable for a single node: all nodes of a group allocate in the same way.
GLOBAL_ONLY = frozenset({EXCLUSIVE})
#: The program by which a node's power is known and switched; what it is where there is none though a wider level names one.
OOB_PROGRAM = "oob_program"
NO_PROGRAM = "!"
LAST_PORT = 65535


@frozen
class Range:
    """What values of a parameter there can be besides their type."""

    holds: Callable[[Any], bool]
    words: str


#: Of what is given; a configuration of before may hold others.
RANGES: Mapping[str, Range] = {
    "cpu_speed": Range(lambda speed: isfinite(speed) and speed > 0, "above 0"),
    OOB_PROGRAM: Range(
        lambda program: program in ("", NO_PROGRAM) or program.startswith("/"),
        f"an absolute path, empty, or {NO_PROGRAM} for none",
    ),
    "spindle_count": Range(lambda count: count >= 0, "at least 0"),
    "ssh_port": Range(lambda port: 1 <= port <= LAST_PORT, f"a port from 1 to {LAST_PORT}"),
}


class NodeParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """Out-of-band power control, disks, OpenvSwitch and SSH of a node; cpu_speed is relative to 1.0.

    In the order in which Ganeti lists them.
    """

    oob_program: str = ""
    spindle_count: int = 1
    exclusive_storage: bool = False
    ovs: bool = False
    ovs_name: str | None = "switch1"
    ovs_link: str | None = ""
    ssh_port: int = 22
    cpu_speed: float = 1.0


def fill_ndparams(cluster: Cluster, group: NodeGroup | None = None, node: Node | None = None) -> Params:
    """All parameters: built-in, then the cluster's, then the group's, then the node's own."""
    group_params = group.ndparams if group is not None else {}
    own = node.ndparams if node is not None else {}
    return fill(NodeParams, cluster.ndparams, group_params, {k: v for k, v in own.items() if k not in GLOBAL_ONLY})


def oob_program(filled: Params) -> str:
    """The out-of-band program of a node whose parameters are these; empty when it has none (reference: oob.json)."""
    program = str(filled.get(OOB_PROGRAM) or "")
    return "" if program == NO_PROGRAM else program


def typed_ndparams(params: Params) -> NodeParams:
    """Filled parameters as a struct. @raise ParameterError: they do not fit it."""
    return typed(NodeParams, params, "ndparams")


def check_ndparams(given: Params, *, for_node: bool = False) -> dict[str, object]:
    """Given parameters in their types.

    @raise ParameterError: unknown, or not for a single node. @raise TypeEnforcementError: of another type.
    @raise OpPrereqError: out of range.
    """
    if for_node:
        refuse_global(given, GLOBAL_ONLY, "ndparams")
    checked = check(NodeParams, given, "ndparams")
    for name, value in checked.items():
        if value != DEFAULT and name in RANGES and not RANGES[name].holds(value):
            raise OpPrereqError(f"ndparams.{name}: must be {RANGES[name].words}, got {value!r}", ECode.INVAL)
    return checked
