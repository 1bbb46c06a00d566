"""The parameters of a cluster after a change: checked against the tables, laid over what was set before."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.opcodes import OpClusterSetParams
from ganeti_tx.model.opcodes.private import reveal
from ganeti_tx.model.params import backend, disk, hypervisor, ipolicy, nic, node
from ganeti_tx.model.params.ipolicy import InstancePolicy
from ganeti_tx.model.params.kinds import DEFAULT, updated
from ganeti_tx.model.params.os import check_osparams


def changed_parameters(cluster: Cluster, op: OpClusterSetParams) -> dict[str, Any]:
    """The fields of the cluster that an opcode's parameters change.

    @raise ParameterError, TypeEnforcementError: a name or value does not fit. @raise OpPrereqError: no such hypervisor.
    """
    makers: dict[str, Any] = {
        "hvparams": lambda: hvparams(cluster.hvparams, op.hvparams or {}),
        "os_hvp": lambda: os_hvparams(cluster, op.os_hvp or {}),
        "beparams": lambda: {"default": beparams(cluster, op.beparams or {})},
        "nicparams": lambda: {
            "default": nicparams(cluster, {str(key): value for key, value in (op.nicparams or {}).items()})
        },
        "ndparams": lambda: updated(cluster.ndparams, node.check_ndparams(op.ndparams or {})),
        "diskparams": lambda: diskparams(cluster.diskparams, op.diskparams or {}),
        "osparams": lambda: osparams(cluster.osparams, op.osparams or {}, "osparams"),
        "osparams_private_cluster": lambda: osparams(
            cluster.osparams_private_cluster,
            {os: reveal(given) for os, given in (op.osparams_private_cluster or {}).items()},
            "osparams_private_cluster",
        ),
        "ipolicy": lambda: policy(cluster.ipolicy, op.ipolicy or {}),
        "hv_state_static": lambda: {**cluster.hv_state_static, **(op.hv_state or {})},
        "disk_state_static": lambda: {**cluster.disk_state_static, **(op.disk_state or {})},
    }
    given = {"hv_state_static": op.hv_state, "disk_state_static": op.disk_state}
    return {name: make() for name, make in makers.items() if given.get(name, getattr(op, name, None)) is not None}


def kind_of(name: str) -> Hypervisor:
    """@raise OpPrereqError: no hypervisor has that name."""
    if name not in tuple(Hypervisor):
        raise OpPrereqError(f"hypervisor {name!r} is not known; there are {', '.join(Hypervisor)}", ECode.INVAL)
    return Hypervisor(name)


def hvparams(held: Mapping[Hypervisor, Params], given: Mapping[str, Params]) -> dict[Hypervisor, Params]:
    """By hypervisor."""
    after = dict(held)
    for name, params in given.items():
        kind = kind_of(name)
        after[kind] = updated(held.get(kind, {}), hypervisor.check_hvparams(kind, params, for_cluster=True))
    return after


def os_hvparams(cluster: Cluster, given: Mapping[str, Params]) -> dict[str, dict[Hypervisor, Params]]:
    """By OS and hypervisor; an OS without any is left out."""
    after = {os: dict(held) for os, held in cluster.os_hvp.items()}
    for os, by_name in given.items():
        held = after.setdefault(os, {})
        for name, params in by_name.items():
            if not isinstance(params, Mapping):
                raise OpPrereqError(f"os_hvp.{os}.{name}: parameters of a hypervisor are wanted", ECode.INVAL)
            kind = kind_of(name)
            held[kind] = updated(held.get(kind, {}), hypervisor.check_hvparams(kind, params))
    return {os: kept for os, held in after.items() if (kept := {kind: own for kind, own in held.items() if own})}


def beparams(cluster: Cluster, given: Params) -> Params:
    """What every instance gets; all of it is written down."""
    after = updated(cluster.beparams.get("default", {}), backend.check_beparams(given))
    filled = {**msgspec.to_builtins(backend.BackendParams()), **after}
    backend.typed_beparams(filled)
    return filled


def nicparams(cluster: Cluster, given: Mapping[str, Any]) -> Params:
    """What every NIC gets; all of it is written down."""
    after = updated(cluster.nicparams.get("default", {}), nic.check_nicparams(given))
    filled = {**msgspec.to_builtins(nic.NicParams()), **after}
    nic.typed_nicparams(filled)
    return filled


def diskparams(held: Mapping[DiskTemplate, Params], given: Mapping[DiskTemplate, Params]) -> dict[DiskTemplate, Params]:
    """By disk template."""
    checked = disk.check_diskparams({template.value: params for template, params in given.items()})
    return {**held, **{template: updated(held.get(template, {}), params) for template, params in checked.items()}}


def osparams(
    held: Mapping[str, Mapping[str, str]], given: Mapping[str, Mapping[str, object]], path: str
) -> dict[str, dict[str, str]]:
    """By OS; an OS without any is left out."""
    after = {os: dict(params) for os, params in held.items()}
    for os, params in given.items():
        changes = check_osparams(params, f"{path}.{os}")
        merged = {**after.get(os, {}), **changes}
        after[os] = {name: value for name, value in merged.items() if changes.get(name) != DEFAULT}
    return {os: params for os, params in after.items() if params}


def policy(held: InstancePolicy, given: Params) -> InstancePolicy:
    """The policy; of the usual instance a part may be given."""
    std = given.get("std")
    if isinstance(std, Mapping):
        given = {**given, "std": {**msgspec.to_builtins(held.std), **std}}
    changed = ipolicy.fill(held, ipolicy.check_ipolicy(given))
    if given:
        ipolicy.check_standard(changed)
    return changed
