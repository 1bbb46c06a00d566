"""The settings that are tables of parameters: what they are at first, how they are changed, what is shown of them."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.base import Params
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.opcodes.private import Hidden, reveal
from ganeti_tx.model.params import backend, disk, hypervisor, ipolicy, nic, node
from ganeti_tx.model.params.ipolicy import InstancePolicy
from ganeti_tx.model.params.kinds import DEFAULT, defaults_of, fill, updated
from ganeti_tx.model.params.os import check_osparams, fitting
from ganeti_tx.model.settings.setting import Setting
from ganeti_tx.model.settings.table import DECLARED


class Rule(msgspec.Struct, frozen=True, eq=False):
    """What a table of parameters is by default, how it is changed, and what is told of it; as in `Setting` and `Fact`."""

    default: Any
    change: Callable[..., Any]
    read: Callable[[Any], Any] | None = None
    initial: Any = msgspec.UNSET


def ruled(setting: Setting) -> Setting:
    """A declaration with its rule, if it has one."""
    rule = RULES.get(setting.name)
    if rule is None:
        return setting
    facts = tuple(replace(fact, read=rule.read) for fact in setting.facts)
    return replace(setting, default=rule.default, initial=rule.initial, change=rule.change, facts=facts)


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
        after[kind] = updated(held.get(kind, {}), hypervisor.new_hvparams(kind, params, for_cluster=True))
    return after


def os_hvparams(
    before: Mapping[str, Mapping[Hypervisor, Params]], given: Mapping[str, Params]
) -> dict[str, dict[Hypervisor, Params]]:
    """By OS and hypervisor; an OS without any is left out."""
    after = {os: dict(held) for os, held in before.items()}
    for os, by_name in given.items():
        held = after.setdefault(os, {})
        for name, params in by_name.items():
            if not isinstance(params, Mapping):
                raise OpPrereqError(f"os_hvp.{os}.{name}: parameters of a hypervisor are wanted", ECode.INVAL)
            kind = kind_of(name)
            held[kind] = updated(held.get(kind, {}), hypervisor.new_hvparams(kind, params))
    return {os: kept for os, held in after.items() if (kept := {kind: own for kind, own in held.items() if own})}


def beparams(held: Mapping[str, Params], given: Params) -> dict[str, Params]:
    """What every instance gets; all of it is written down."""
    filled = fill(backend.BackendParams, updated(held.get("default", {}), backend.check_beparams(given)))
    backend.typed_beparams(filled)
    return {"default": filled}


def nicparams(held: Mapping[str, Params], given: Mapping[str, Any]) -> dict[str, Params]:
    """What every NIC gets; all of it is written down."""
    plain = {str(key): value for key, value in given.items()}
    filled = fill(nic.NicParams, updated(held.get("default", {}), nic.check_nicparams(plain)))
    nic.typed_nicparams(filled)
    return {"default": filled}


def ndparams(held: Params, given: Params) -> Params:
    """What every node has."""
    return updated(held, node.check_ndparams(given))


def diskparams(held: Mapping[DiskTemplate, Params], given: Mapping[DiskTemplate, Params]) -> dict[DiskTemplate, Params]:
    """By disk template."""
    checked = disk.check_diskparams({str(template): params for template, params in given.items()})
    return {**held, **{template: updated(held.get(template, {}), params) for template, params in checked.items()}}


def osparams(
    held: Mapping[str, Mapping[str, str]], given: Mapping[str, Mapping[str, object]], path: str = "osparams"
) -> dict[str, dict[str, str]]:
    """By OS; an OS without any is left out."""
    after = {os: dict(params) for os, params in held.items()}
    for os, params in given.items():
        changes = check_osparams(params, f"{path}.{os}")
        merged = {**after.get(os, {}), **changes}
        wanted = {name: value for name, value in merged.items() if changes.get(name) != DEFAULT}
        after[os] = fitting(wanted, f"{path}.{os}") if wanted.keys() & changes.keys() else wanted
    return {os: params for os, params in after.items() if params}


def private_osparams(
    held: Mapping[str, Mapping[str, str]], given: Mapping[str, Mapping[str, Hidden]]
) -> dict[str, dict[str, str]]:
    """As `osparams`, for those that nobody sees."""
    return osparams(held, {os: reveal(hidden) for os, hidden in given.items()}, "osparams_private_cluster")


def policy(held: InstancePolicy, given: Params) -> InstancePolicy:
    """The policy; of the usual instance a part may be given."""
    std = given.get("std")
    if isinstance(std, Mapping):
        given = {**given, "std": {**msgspec.to_builtins(held.std), **std}}
    changed = ipolicy.fill(held, ipolicy.check_ipolicy(given))
    if given:
        ipolicy.check_standard(changed)
    return changed


RULES: Mapping[str, Rule] = {
    "hvparams": Rule(
        {word: dict(defaults_of(kind.params)) for word, kind in HYPERVISORS.items()},
        hvparams,
        lambda held: {word: fill(kind.params, held.get(word, {})) for word, kind in HYPERVISORS.items()},
        {kind: {} for kind in Hypervisor},
    ),
    "os_hvp": Rule({}, os_hvparams),
    "osparams": Rule({}, osparams),
    "osparams_private_cluster": Rule({}, private_osparams),
    "ndparams": Rule(
        dict(defaults_of(node.NodeParams)), ndparams, lambda held: fill(node.NodeParams, held)
    ),
    "beparams": Rule(
        {"default": dict(defaults_of(backend.BackendParams))},
        beparams,
        lambda held: {"default": fill(backend.BackendParams, held.get("default", {}))},
    ),
    "nicparams": Rule(
        {"default": dict(defaults_of(nic.NicParams))},
        nicparams,
        lambda held: {"default": fill(nic.NicParams, held.get("default", {}))},
    ),
    "diskparams": Rule(
        {word: dict(defaults_of(template.params)) for word, template in TEMPLATES.items()},
        diskparams,
        lambda held: {word: fill(template.params, held.get(word, {})) for word, template in TEMPLATES.items()},
        {},
    ),
    "ipolicy": Rule(InstancePolicy(), policy, msgspec.to_builtins),
}  # fmt: skip

SETTINGS = tuple(map(ruled, DECLARED))
