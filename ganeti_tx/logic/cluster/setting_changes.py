"""The plain settings of a cluster after a change: numbers, names, directories and lists."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from posixpath import normpath
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.cluster import COLLECTORS, DEFAULT_COLLECTOR, Cluster
from ganeti_tx.model.opcodes import OpClusterSetParams
from ganeti_tx.model.opcodes.types import IdRange, ListAction

#: Taken over as they are given.
PLAIN = (
    "candidate_pool_size", "max_running_jobs", "max_tracked_jobs", "maintain_node_health", "prealloc_wipe_disks",
    "default_iallocator", "default_iallocator_params", "use_external_mip_script", "modify_etc_hosts", "install_image",
    "zeroing_image", "enabled_user_shutdown", "enabled_hypervisors", "enabled_disk_templates",
    "master_netdev", "master_netmask",
)  # fmt: skip
DIRECTORIES = ("file_storage_dir", "shared_file_storage_dir", "gluster_storage_dir")
#: What the settings would switch is not part of this version.
ABSENT = {
    "vg_name": "LVM",
    "drbd_helper": "DRBD",
    "instance_communication_network": "the instance communication network",
}
MAC_PREFIX = re.compile(r"[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}", re.IGNORECASE)
TOOL = re.compile(r"[A-Za-z0-9_.+-]{1,100}")
MICROSECONDS = 1_000_000


def changed_settings(cluster: Cluster, op: OpClusterSetParams) -> dict[str, Any]:
    """The fields of the cluster that an opcode's settings change. @raise OpPrereqError: one cannot be."""
    for name, what in ABSENT.items():
        if getattr(op, name):
            raise OpPrereqError(f"{name} cannot be set: {what} is not available in this version", ECode.INVAL)
    changes = {name: value for name in PLAIN if (value := getattr(op, name)) is not None}
    changes.update({name: directory(name, path) for name in DIRECTORIES if (path := getattr(op, name)) is not None})
    for name in ("hidden_os", "blacklisted_os"):
        if (actions := getattr(op, name)) is not None:
            changes[name] = with_names(name, getattr(cluster, name), actions)
    if op.mac_prefix is not None:
        changes["mac_prefix"] = mac_prefix(op.mac_prefix)
    if op.reserved_lvs is not None:
        changes["reserved_lvs"] = tuple(map(pattern, op.reserved_lvs))
    if op.compression_tools is not None:
        changes["compression_tools"] = tuple(map(tool, op.compression_tools))
    if any(ranges is not None for ranges in (op.uid_pool, op.add_uids, op.remove_uids)):
        changes["uid_pool"] = uid_pool(cluster.uid_pool, op)
    if op.enabled_data_collectors is not None or op.data_collector_interval is not None:
        changes["data_collectors"] = collectors(cluster, op)
    return changes


def directory(name: str, path: str) -> str:
    """A directory as it is written down, or nothing, which switches its kind of storage off.

    Whether the nodes allow it, `gnt-cluster verify` tells, and each of them when a disk is made.
    """
    if path and not path.startswith("/"):
        raise OpPrereqError(f"{name}: {path!r} is no absolute path", ECode.INVAL)
    return normpath(f"/{path.lstrip('/')}") if path else path


def mac_prefix(given: str) -> str:
    """The first half of a MAC address."""
    if not MAC_PREFIX.fullmatch(given):
        raise OpPrereqError(f"mac_prefix must have the form aa:bb:cc, not {given!r}", ECode.INVAL)
    return given.lower()


def pattern(text: str) -> str:
    """A regular expression for names of volumes."""
    try:
        re.compile(text)
    except re.error as error:
        raise OpPrereqError(f"reserved_lvs: {text!r} is no regular expression: {error}", ECode.INVAL) from None
    return text


def tool(name: str) -> str:
    """The name of a compression tool, without a path."""
    if not TOOL.fullmatch(name):
        raise OpPrereqError(f"compression_tools: {name!r} is no plain name of a program", ECode.INVAL)
    return name


def with_names(what: str, held: Sequence[str], actions: Iterable[tuple[ListAction, str]]) -> tuple[str, ...]:
    """A list of OS names after additions and removals. @raise OpPrereqError: one is there already, or is not there."""
    names = list(held)
    for action, name in actions:
        if action in (ListAction.ADD, ListAction.ATTACH):
            if name in names:
                raise OpPrereqError(f"{what}: OS {name!r} is in the list already", ECode.INVAL)
            names.append(name)
        elif name not in names:
            raise OpPrereqError(f"{what}: OS {name!r} is not in the list", ECode.INVAL)
        else:
            names.remove(name)
    return tuple(names)


def uid_pool(held: Sequence[IdRange], op: OpClusterSetParams) -> tuple[IdRange, ...]:
    """The ranges of user ids after a replacement, additions and removals.

    @raise OpPrereqError: a range is no range, overlaps another, or to be removed is not there.
    """
    pool = list(held if op.uid_pool is None else op.uid_pool)
    for low, high in (*(op.add_uids or ()), *(op.remove_uids or ()), *pool):
        if not 0 <= low <= high:
            raise OpPrereqError(f"uid_pool: {low}-{high} is no range of user ids", ECode.INVAL)
    pool.extend(op.add_uids or ())
    for low, high in op.remove_uids or ():
        pool = without_range(pool, low, high)
    pool.sort()
    for (_, end), (start, high) in pairwise(pool):
        if start <= end:
            raise OpPrereqError(f"uid_pool: {start}-{high} overlaps another range, which ends at {end}", ECode.INVAL)
    return tuple(pool)


def without_range(pool: Sequence[IdRange], low: int, high: int) -> list[IdRange]:
    """The pool with a part of one of its ranges cut out."""
    for held in pool:
        if held[0] <= low and high <= held[1]:
            left = [(held[0], low - 1), (high + 1, held[1])]
            return [each for each in pool if each != held] + [part for part in left if part[0] <= part[1]]
    raise OpPrereqError(f"uid_pool: {low}-{high} cannot be removed, the pool does not hold it", ECode.INVAL)


def collectors(cluster: Cluster, op: OpClusterSetParams) -> dict[str, Any]:
    """Which collectors run, and how often; clusters of older versions do not name them all."""
    after = {**dict.fromkeys(COLLECTORS, DEFAULT_COLLECTOR), **cluster.data_collectors}
    for field, given in (("active", op.enabled_data_collectors), ("interval", op.data_collector_interval)):
        for name, value in (given or {}).items():
            if name not in after:
                raise OpPrereqError(
                    f"data collector {name!r} is not known; there are {', '.join(sorted(after))}", ECode.INVAL
                )
            if field == "interval" and value < MICROSECONDS:
                raise OpPrereqError(f"data collector {name!r}: {value} microseconds is less than a second", ECode.INVAL)
            after[name] = replace(after[name], **{field: value})
    return after
