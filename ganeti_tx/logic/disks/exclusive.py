"""Disks that share their physical volumes with none: what may be asked for, and how many of these each has."""

from collections.abc import Collection, Iterable

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.exclusive_storage import PHYSICAL_VOLUMES, is_exclusive, spread, unfit
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.rpc.calls.node import NodeVerify
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError, Target


def check_wanted(
    cluster: Cluster, group: NodeGroup, templates: Iterable[DiskTemplate], spindles: Iterable[int | None]
) -> None:
    """@raise OpPrereqError: the nodes of the group cannot have such disks, or spindles are told where they are no disk's own."""
    if not is_exclusive(cluster, group):
        if any(count is not None for count in spindles):
            raise OpPrereqError(
                f"spindles can be given only where storage is exclusive, which it is not in node group {group.name}"
                " (node parameter exclusive_storage)",
                ECode.INVAL,
            )
        return
    if wrong := unfit(templates):
        raise OpPrereqError(
            f"disk template {wrong[0].value} is not supported with exclusive storage, which node group {group.name} has;"
            " allowed are diskless, plain",
            ECode.INVAL,
        )
    if any(count is not None and count < 1 for count in spindles):
        raise OpPrereqError(
            "0 spindles are no place for a disk; give 1 or more, or none to have as few as will do", ECode.INVAL
        )


async def with_spindles(nodes: INodeRpc, target: InstanceView, only: Collection[str] | None = None) -> tuple[Disk, ...]:
    """The disks of an instance, those that are there with the number of their physical volumes where these are their own.

    What a node does not tell stays; 'gnt-cluster repair-disk-sizes' finds it out later.

    @param only: the uuids of those that are asked for, if not all are.
    """
    if not is_exclusive(target.cluster, target.group) or unfit([target.disk_template]):
        return target.disks
    specs = [without_secret(spec) for spec in target.disk_specs() if only is None or spec.uuid in only]
    try:
        states = await nodes.call(target.primary, BlockdevStates(disks=specs))
    except RpcError:
        return target.disks
    found = {spec.uuid: state.spindles for spec, state in zip(specs, states, strict=True) if state.spindles is not None}
    return tuple(replace(disk, spindles=found.get(disk.uuid, disk.spindles)) for disk in target.disks)


async def check_alike(
    parts: Parts, cluster: Cluster, group: NodeGroup, nodes: Iterable[Node], new: Iterable[Target] = ()
) -> None:
    """The physical volumes of a group with exclusive storage are of one size; others may differ.

    @param nodes: those of the cluster. @param new: others that come to the group.
    @raise OpPrereqError: they are not, or a node does not tell.
    """
    place = cluster.volume_group_name
    if place is None or not is_exclusive(cluster, group):
        return
    call = NodeVerify(checks={PHYSICAL_VOLUMES: place}, cluster_name=cluster.cluster_name)
    found: list[tuple[int, str]] = []
    members = [node for node in nodes if node.group == group.uuid and node.vm_capable and not node.offline]
    for node in [*members, *new]:
        told = await ask(parts.nodes, node, call, ECode.ENVIRON)
        if (why := told.failed(PHYSICAL_VOLUMES)) is not None:
            text = (
                f"node {node.name} does not tell its physical volumes, which must be alike in node group {group.name}"
            )
            raise OpPrereqError(f"{text}: {why}", ECode.ENVIRON)
        found.extend((size, node.name) for _, size in told.get(PHYSICAL_VOLUMES, []))
    if (fault := spread(found)) is not None:
        raise OpPrereqError(f"node group {group.name} cannot have exclusive storage: {fault}", ECode.ENVIRON)
