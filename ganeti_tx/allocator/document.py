"""The one document that an allocator reads: the request, and the cluster as it is (Ganeti 3.0 allocator table)."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import msgspec

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import AdminState, DiskTemplate, NicMode
from ganeti_tx.model.instance_view import InstanceView, InstanceViews
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params import ipolicy
from ganeti_tx.model.params.node import fill_ndparams
from ganeti_tx.model.versions import IALLOCATOR_VERSION


@attrs.frozen(kw_only=True)
class Load:
    """What is there on a node, and free of it; memory and disks in MiB. `running`: the memory that each instance uses."""

    total_memory: int
    free_memory: int
    reserved_memory: int
    total_cpus: int
    reserved_cpus: int
    total_disk: int
    free_disk: int
    total_spindles: int = 0
    free_spindles: int = 0
    running: Mapping[str, int]


def document(state: InstanceViews, loads: Mapping[str, Load], request: Any, group: str | None = None) -> bytes:
    """The JSON text.

    @param loads: by node name; a node without is not to be used, as one that is offline.
    @param group: the uuid of the only group that is told of; without its nodes' instances that are in another one, too.
    """
    cluster = state.cluster
    views = state.each()
    by_primary: dict[str, list[InstanceView]] = {}
    for view in views:
        by_primary.setdefault(view.instance.primary_node, []).append(view)
    return msgspec.json.encode(
        {
            "version": IALLOCATOR_VERSION,
            "cluster_name": cluster.cluster_name,
            "cluster_tags": list(cluster.tags),
            "enabled_hypervisors": list(cluster.enabled_hypervisors),
            "ipolicy": cluster.ipolicy,
            "nodegroups": {
                each.uuid: group_entry(cluster, each) for each in state.groups.values() if group in (None, each.uuid)
            },
            "nodes": {
                node.name: node_entry(state, node, loads.get(node.name), by_primary.get(node.uuid, ()))
                for node in state.nodes.values()
                if group in (None, node.group)
            },
            "instances": {view.instance.name: instance_entry(view) for view in views if is_within(view, group)},
            "request": request,
        }
    )


def is_within(view: InstanceView, group: str | None) -> bool:
    """Whether all nodes of an instance are in a group (uuid), if there is one."""
    return group is None or {node.group for node in view.nodes.values()} == {group}


def group_entry(cluster: Cluster, group: NodeGroup) -> dict[str, Any]:
    """One node group."""
    return {
        "name": group.name,
        "alloc_policy": group.alloc_policy,
        "networks": list(group.networks),
        "ipolicy": ipolicy.fill(cluster.ipolicy, group.ipolicy),
        "tags": list(group.tags),
    }


def node_entry(
    state: InstanceViews, node: Node, load: Load | None, primaries: Sequence[InstanceView]
) -> dict[str, Any]:
    """One node; what is there on it, only where instances may be."""
    usable = node.vm_capable and not node.offline
    static = {
        "group": node.group,
        "primary_ip": node.primary_ip,
        "secondary_ip": node.secondary_ip,
        "tags": list(node.tags),
        "offline": node.offline or (usable and load is None),
        "drained": node.drained,
        "master_candidate": node.master_candidate,
        "master_capable": node.master_capable,
        "vm_capable": node.vm_capable,
        "ndparams": fill_ndparams(state.cluster, state.groups[node.group], node),
    }
    return static if load is None or not usable else {**static, **load_entry(load, primaries)}


def load_entry(load: Load, primaries: Sequence[InstanceView]) -> dict[str, int]:
    """What is free on a node: what instances need that should run and do not, is not."""
    wanted = {view.instance.name: memory_of(view) for view in primaries}
    up = {view.instance.name for view in primaries if view.instance.admin_state is AdminState.UP}
    missing = sum(max(0, wanted[name] - load.running.get(name, 0)) for name in up)
    return {
        "total_memory": load.total_memory,
        "free_memory": load.free_memory - missing,
        "reserved_memory": load.reserved_memory,
        "total_disk": load.total_disk,
        "free_disk": load.free_disk,
        "total_spindles": load.total_spindles,
        "free_spindles": load.free_spindles,
        "total_cpus": load.total_cpus,
        "reserved_cpus": load.reserved_cpus,
        "i_pri_memory": sum(wanted.values()),
        "i_pri_up_memory": sum(wanted[name] for name in up),
    }


def memory_of(view: InstanceView) -> int:
    """MiB that an instance may have."""
    return int(view.spec().beparams["maxmem"])


def instance_entry(view: InstanceView) -> dict[str, Any]:
    """One instance."""
    instance, spec = view.instance, view.spec()
    return {
        "admin_state": instance.admin_state,
        **({"forthcoming": True} if instance.forthcoming else {}),
        "disks_active": instance.disks_active,
        "vcpus": spec.beparams["vcpus"],
        "memory": spec.beparams["maxmem"],
        "spindle_use": spec.beparams["spindle_use"],
        "os": instance.os,
        "hypervisor": instance.hypervisor,
        "tags": list(instance.tags),
        "nodes": [view.primary.name, *(node.name for node in view.secondaries)],
        "nics": [nic_values(nic.mac, nic.ip, nic.mode, nic.link, nic.network) for nic in spec.nics],
        "disk_template": view.disk_template,
        "disks": [disk_entry(disk.dev_type, disk.size, disk.mode, disk.spindles) for disk in view.disks],
        "disk_space_total": room(view.disk_template, [disk.size for disk in view.disks]),
    }


def nic_values(mac: str, ip: str | None, mode: str | None, link: str | None, network: str | None) -> dict[str, Any]:
    """One network interface. By the uuid of its network an allocator keeps to the groups that are connected to that.

    @param mode: None, as `link`, where it depends on the group that is chosen.
    """
    values = {"mac": mac, "ip": ip, "mode": mode, "link": link}
    if mode == NicMode.BRIDGED:
        values["bridge"] = link
    return values if network is None else {**values, "network": network}


def disk_entry(template: DiskTemplate, size: int, mode: str, spindles: int | None) -> dict[str, Any]:
    """One disk."""
    return {"dev_type": template, "size": size, "mode": mode, "spindles": spindles}


def room(template: DiskTemplate, sizes: Sequence[int]) -> int:
    """MiB that disks of these sizes take on each of their nodes."""
    return sum(TEMPLATES[template].room(size) for size in sizes)
