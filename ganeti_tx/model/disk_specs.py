"""Disks as a node must know them: made from the configuration's, with the parameters of cluster and group filled in."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ganeti_tx.model import logical_id as ids
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, StorageType
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.instance_spec import DiskSpec, MirrorEnds
from ganeti_tx.model.logical_id import Minor, NodeUuid, Port
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.disk import fill_diskparams, with_params


def disk_specs(
    disks: Sequence[Disk], cluster: Cluster, group: NodeGroup, node: Node, nodes: Mapping[str, Node]
) -> list[DiskSpec]:
    """All disks of an instance, in their order, for one of the nodes that they are on. @param nodes: all of these, by uuid."""
    filled = fill_diskparams(cluster, group)
    exclusive = is_exclusive(cluster, group, node)
    return [disk_spec(with_params(disk, filled), index, node, nodes, exclusive) for index, disk in enumerate(disks)]


def disk_spec(disk: Disk, index: int, node: Node, nodes: Mapping[str, Node], exclusive: bool = False) -> DiskSpec:
    """One disk that carries its filled parameters."""
    own: dict[str, Any] = dict(disk.params or {})
    return DiskSpec(
        uuid=disk.uuid,
        dev_type=disk.dev_type.value,
        size=disk.size,
        logical_id=None if disk.logical_id is None else list(disk.logical_id),
        index=index,
        mode=disk.mode,
        name=disk.name,
        iv_name=disk.iv_name,
        spindles=disk.spindles,
        params=own,
        children=[disk_spec(child, -1, node, nodes, exclusive) for child in disk.children],
        ends=mirror_ends(disk, node, nodes),
        exclusive=exclusive and disk.template.storage is StorageType.LVM_VG,
    )


def together(specs: Sequence[DiskSpec]) -> list[DiskSpec]:
    """The disks of an instance as they are to be made: each volume knows the others."""
    volumes = [volume for spec in specs for volume in volumes_of(spec)]
    return [_beside(spec, volumes) for spec in specs]


def _beside(spec: DiskSpec, volumes: Sequence[DiskSpec]) -> DiskSpec:
    others = [each.logical_id for each in volumes if each.uuid != spec.uuid and each.logical_id is not None]
    is_volume = any(each.uuid == spec.uuid for each in volumes)
    return replace(
        spec, children=[_beside(child, volumes) for child in spec.children], beside=others if is_volume else []
    )


def volumes_of(spec: DiskSpec) -> list[DiskSpec]:
    """The logical volumes that a disk is, or is made of."""
    template = TEMPLATES[DiskTemplate(spec.dev_type)]
    own = [spec] if template.storage is StorageType.LVM_VG and not template.children else []
    return [*own, *(volume for child in spec.children for volume in volumes_of(child))]


def mirror_ends(disk: Disk, node: Node, nodes: Mapping[str, Node]) -> MirrorEnds | None:
    """Both ends of a mirror, seen from one of its nodes; None for other disks, and for a node that has no end of it.

    Nodes replicate over their secondary addresses (reference: storage-rules.json, drbd).
    """
    shape = disk.template.logical_id
    homes = ids.parts(shape, NodeUuid, disk.logical_id)
    if len(homes) != 2 or node.uuid not in homes:
        return None
    minors, (port,) = ids.parts(shape, Minor, disk.logical_id), ids.parts(shape, Port, disk.logical_id)
    here = homes.index(node.uuid)
    return MirrorEnds(
        local_address=node.secondary_ip,
        local_minor=minors[here],
        peer_address=nodes[homes[1 - here]].secondary_ip,
        peer_minor=minors[1 - here],
        port=port,
    )


def without_secret(spec: DiskSpec) -> DiskSpec:
    """The disk for calls that need no secret, such as those that remove it: these may be kept in files."""
    hidden = ids.without_secret(TEMPLATES[DiskTemplate(spec.dev_type)].logical_id, spec.logical_id)
    return replace(
        spec,
        logical_id=None if hidden is None else list(hidden),
        children=[without_secret(child) for child in spec.children],
    )
