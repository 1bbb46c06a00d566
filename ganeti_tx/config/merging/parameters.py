"""In what the settings of two clusters differ that their nodes and instances go by."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import to_builtins
from msgspec.structs import fields

from ganeti_tx.config.merging.groups import same_groups
from ganeti_tx.model.cluster import PRIVATE, Cluster
from ganeti_tx.model.config_data import TRACKING, ConfigData
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.backend import fill_beparams
from ganeti_tx.model.params.hypervisor import fill_hvparams
from ganeti_tx.model.params.nic import fill_nicparams
from ganeti_tx.model.params.node import fill_ndparams

#: What a cluster is, and how it works, are its own: this cluster's hold.
OWN = TRACKING | {
    "uuid",
    "cluster_name",
    "master_node",
    "master_ip",
    "master_netdev",
    "master_netmask",
    "use_external_mip_script",
    "highest_used_port",
    "tcpudp_port_pool",
    "rsahostkeypub",
    "dsahostkeypub",
    "candidate_certs",
    "mac_prefix",
    "default_group",
    "candidate_pool_size",
    "max_running_jobs",
    "max_tracked_jobs",
    "data_collectors",
    "modify_ssh_setup",
    "ssh_key_type",
    "ssh_key_bits",
    "modify_etc_hosts",
    "maintain_node_health",
    "primary_ip_family",
}
#: This cluster must have all of what the other has.
CONTAINED = frozenset({"enabled_hypervisors", "enabled_disk_templates", "compression_tools", "tags"})
#: Compared as they are with their defaults filled in.
FILLED = frozenset({"hvparams", "beparams", "nicparams", "ndparams"})
#: What a group says of its nodes and instances.
OF_GROUP = ("alloc_policy", "ndparams", "ipolicy", "diskparams")
#: So long a value may be in a line.
MAX_SHOWN = 60
ABSENT = "not set"


def differences(ours: ConfigData, theirs: ConfigData, *, merged_groups: bool) -> list[str]:
    """A line for each. @param merged_groups: whether groups of the same name become one."""
    groups = same_groups(ours, theirs) if merged_groups else {}
    return [
        *cluster_differences(ours.cluster, theirs.cluster),
        *(line for uuid, own in groups.items() for line in group_differences(own, theirs.nodegroups[uuid])),
    ]


def cluster_differences(own: Cluster, other: Cluster) -> Iterator[str]:
    """Those of the clusters themselves."""
    for name in sorted(field.name for field in fields(Cluster) if field.name not in OWN | FILLED | CONTAINED):
        if name in PRIVATE:
            yield from hidden(name, getattr(own, name), getattr(other, name))
        else:
            yield from compared(name, getattr(own, name), getattr(other, name))
    for name in sorted(CONTAINED):
        lacking = [str(to_builtins(each)) for each in getattr(other, name) if each not in getattr(own, name)]
        if lacking:
            yield f"{name}: this cluster does not have {', '.join(lacking)}"
    for hypervisor in other.enabled_hypervisors:
        yield from compared(f"hvparams.{hypervisor}", fill_hvparams(own, hypervisor), fill_hvparams(other, hypervisor))
    for name, fill in (("beparams", fill_beparams), ("nicparams", fill_nicparams), ("ndparams", fill_ndparams)):
        yield from compared(name, fill(own), fill(other))


def group_differences(own: NodeGroup, other: NodeGroup) -> Iterator[str]:
    """Those of two groups that become one."""
    for name in OF_GROUP:
        yield from compared(f"node group {own.name}: {name}", getattr(own, name), getattr(other, name))


def hidden(name: str, own: object, other: object) -> Iterator[str]:
    """A difference whose values nobody is to see."""
    if own != other:
        yield f"{name}: differs"


def compared(name: str, own: object, other: object) -> Iterator[str]:
    """Two values, key by key where both have keys."""
    yield from unlike(name, to_builtins(own), to_builtins(other))


def unlike(name: str, own: Any, other: Any) -> Iterator[str]:
    """As `compared`, of plain values."""
    if isinstance(own, Mapping) and isinstance(other, Mapping):
        for key in sorted({*own, *other}):
            yield from unlike(f"{name}.{key}", own.get(key, ABSENT), other.get(key, ABSENT))
    elif own != other:
        yield f"{name}: {shown(own)} here, {shown(other)} there"


def shown(value: object) -> str:
    """For a line."""
    text = value if value is ABSENT else repr(value)
    return text if len(str(text)) <= MAX_SHOWN else f"{str(text)[:MAX_SHOWN]}..."
