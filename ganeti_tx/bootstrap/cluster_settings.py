"""The settings of a new cluster, checked as they are declared, as its configuration holds them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.errors import GanetiError
from ganeti_tx.model import disk_templates, hypervisors
from ganeti_tx.model.ip_family import family_of_version
from ganeti_tx.model.master_network import LONGEST_NETMASK
from ganeti_tx.model.settings.rules import SETTINGS
from ganeti_tx.model.settings.setting import Setting


def check_params(
    settings: InitSettings, problems: Problems, declared: Iterable[Setting] = SETTINGS
) -> Mapping[str, Any]:
    """What to store of each setting that `init` can set, by name; each fault is a problem with its path."""
    _check_available("hypervisor", settings.enabled_hypervisors, hypervisors.AVAILABLE, problems)
    _check_available("disk template", settings.enabled_disk_templates, disk_templates.AVAILABLE, problems)
    problems.unless(bool(settings.enabled_hypervisors), "a cluster needs at least one enabled hypervisor")
    problems.unless(bool(settings.enabled_disk_templates), "a cluster needs at least one enabled disk template")
    for word in disk_templates.AVAILABLE:
        placed = not disk_templates.TEMPLATES[word].pool_keys or bool(settings.vg_name)
        problems.unless(
            placed or word not in settings.enabled_disk_templates,
            f"disk template {word.value!r} needs a volume group; name it with --vg-name",
        )
    for name, params in settings.hvparams.items():
        problems.unless(
            bool(settings.uid_pool) or params.get("security_model") != "pool",
            f"hvparams.{name}.security_model: 'pool' needs a pool of user ids; give it with --uid-pool",
        )
    given, longest = settings.master_netmask, longest_netmask(settings)
    fine = given is None or 0 < given <= longest
    problems.unless(fine, f"--master-netmask must be from 1 to {longest}, not {given}")
    allowed = settings.ipolicy.get("disk-templates")
    for word in allowed if isinstance(allowed, list) else ():
        problems.unless(
            word in settings.enabled_disk_templates,
            f"disk template {word!r} is allowed by the ipolicy, but not enabled on the cluster",
        )
    asked = {each.name: value for each in declared if (value := getattr(settings, each.parameter, None)) is not None}
    return {each.name: _stored(each, asked[each.name], problems) for each in declared if each.name in asked}


def _stored(setting: Setting, given: Any, problems: Problems) -> Any:
    held = setting.at_first
    for part in [{name: params} for name, params in given.items()] if setting.is_by_name else [given]:
        try:
            held = setting.stored(held, {setting.parameter: part})
        except GanetiError as error:
            problems.add(str(error))
    return held


def _check_available(what: str, names: Sequence[str], available: Sequence[str], problems: Problems) -> None:
    for name in names:
        problems.unless(name in available, f"{what} {name!r} is not available; available: {', '.join(available)}")


def longest_netmask(settings: InitSettings) -> int:
    """That of one address alone, in bits."""
    return LONGEST_NETMASK[int(family_of_version(settings.primary_ip_version))]


def cluster_settings(settings: InitSettings, params: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the new cluster object that the settings determine, as on the wire."""
    own = {
        "master_netmask": settings.master_netmask or longest_netmask(settings),
        "primary_ip_family": int(family_of_version(settings.primary_ip_version)),
        "ssh_key_bits": settings.ssh_bits,
    }
    fields = {name: msgspec.to_builtins(value) for name, value in {**params, **own}.items()}
    if "disk-templates" not in settings.ipolicy:
        # what is not enabled nobody could make, and planners are told of the policy only
        fields["ipolicy"]["disk-templates"] = list(settings.enabled_disk_templates)
    return fields
