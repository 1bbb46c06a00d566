"""The settings of a new cluster, checked against the tables, as its configuration holds them."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import msgspec

from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.config.faults import MAC_PREFIX
from ganeti_tx.errors import GanetiError
from ganeti_tx.model import disk_templates, hypervisors
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.master_network import LONGEST_NETMASK
from ganeti_tx.model.params import backend, disk, hypervisor, ipolicy, nic, node
from ganeti_tx.model.params.ipolicy import InstancePolicy
from ganeti_tx.runtime.resolver import family_of_version


@attrs.frozen
class CheckedParams:
    """The parameters of the settings, each reduced to what differs from the tables."""

    hvparams: Mapping[Hypervisor, Mapping[str, Any]]
    beparams: Mapping[str, Any]
    nicparams: Mapping[str, Any]
    ndparams: Mapping[str, Any]
    diskparams: Mapping[DiskTemplate, Mapping[str, Any]]
    policy: InstancePolicy


def check_params(settings: InitSettings, problems: Problems) -> CheckedParams:
    """Check every parameter against the tables; each fault is a problem with its path."""
    _check_available("hypervisor", settings.enabled_hypervisors, hypervisors.AVAILABLE, problems)
    _check_available("disk template", settings.enabled_disk_templates, disk_templates.AVAILABLE, problems)
    problems.unless(bool(settings.enabled_hypervisors), "a cluster needs at least one enabled hypervisor")
    problems.unless(bool(settings.enabled_disk_templates), "a cluster needs at least one enabled disk template")
    fine = MAC_PREFIX.match(settings.mac_prefix) is not None
    problems.unless(fine, f"--mac-prefix must have the form aa:bb:cc, not {settings.mac_prefix!r}")
    fine = settings.candidate_pool_size >= 1
    problems.unless(fine, f"--candidate-pool-size must be at least 1, not {settings.candidate_pool_size}")
    given, longest = settings.master_netmask, longest_netmask(settings)
    fine = given is None or 0 < given <= longest
    problems.unless(fine, f"--master-netmask must be from 1 to {longest}, not {given}")
    return CheckedParams(
        hvparams=_hvparams(settings, problems),
        beparams=_checked(problems, backend.check_beparams, settings.beparams),
        nicparams=_checked(problems, nic.check_nicparams, settings.nicparams),
        ndparams=_checked(problems, node.check_ndparams, settings.ndparams),
        diskparams=_checked(problems, disk.check_diskparams, settings.diskparams),
        policy=_policy(settings, problems),
    )


def _check_available(what: str, names: Sequence[str], available: Sequence[str], problems: Problems) -> None:
    for name in names:
        problems.unless(name in available, f"{what} {name!r} is not available; available: {', '.join(available)}")


def longest_netmask(settings: InitSettings) -> int:
    """That of one address alone, in bits."""
    return LONGEST_NETMASK[int(family_of_version(settings.primary_ip_version))]


def _checked(problems: Problems, check: Any, given: Mapping[str, Any]) -> Any:
    try:
        return check(given)
    except GanetiError as error:
        problems.add(str(error))
        return {}


def _hvparams(settings: InitSettings, problems: Problems) -> dict[Hypervisor, Mapping[str, Any]]:
    found: dict[Hypervisor, Mapping[str, Any]] = {Hypervisor(name): {} for name in Hypervisor}
    for name, given in settings.hvparams.items():
        if name not in found:
            problems.add(f"hvparams.{name}: no such hypervisor; there are {', '.join(found)}")
            continue
        kind = Hypervisor(name)
        found[kind] = _checked(
            problems, lambda params, kind=kind: hypervisor.check_hvparams(kind, params, for_cluster=True), given
        )
    return found


def _policy(settings: InitSettings, problems: Problems) -> InstancePolicy:
    try:
        policy = ipolicy.fill(InstancePolicy(), ipolicy.check_ipolicy(settings.ipolicy))
        ipolicy.check_standard(policy)
        return policy
    except GanetiError as error:
        problems.add(str(error))
        return InstancePolicy()


def cluster_settings(settings: InitSettings, params: CheckedParams) -> dict[str, Any]:
    """The fields of the new cluster object that the settings determine, as on the wire."""
    given = msgspec.structs.asdict(settings)
    return {
        **{name: given[name] for name in SAME_NAME},
        "master_netmask": settings.master_netmask or longest_netmask(settings),
        "primary_ip_family": int(family_of_version(settings.primary_ip_version)),
        "ssh_key_bits": settings.ssh_bits,
        "hvparams": params.hvparams,
        "beparams": {"default": {**msgspec.to_builtins(backend.BackendParams()), **params.beparams}},
        "nicparams": {"default": {**msgspec.to_builtins(nic.NicParams()), **params.nicparams}},
        "ndparams": {**msgspec.to_builtins(node.NodeParams()), **params.ndparams},
        "diskparams": params.diskparams,
        "ipolicy": msgspec.to_builtins(params.policy),
        "hv_state_static": settings.hv_state,
        "disk_state_static": settings.disk_state,
        **({"volume_group_name": settings.vg_name} if settings.vg_name else {}),
        **({"drbd_usermode_helper": settings.drbd_usermode_helper} if settings.drbd_usermode_helper else {}),
    }


#: Settings whose name and form are those of the cluster's fields.
SAME_NAME = (
    "use_external_mip_script",
    "enabled_hypervisors",
    "enabled_disk_templates",
    "mac_prefix",
    "candidate_pool_size",
    "file_storage_dir",
    "shared_file_storage_dir",
    "gluster_storage_dir",
    "default_iallocator",
    "default_iallocator_params",
    "maintain_node_health",
    "prealloc_wipe_disks",
    "modify_etc_hosts",
    "modify_ssh_setup",
    "uid_pool",
    "compression_tools",
    "install_image",
    "zeroing_image",
    "enabled_user_shutdown",
    "ssh_key_type",
)
