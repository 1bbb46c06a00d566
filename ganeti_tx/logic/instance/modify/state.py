"""Marking an instance as offline or online, and saying where it is now."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.instance.presence import is_running
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import check_takes_instances
from ganeti_tx.model.disk import Disk, DiskSettings, settings_of
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, view_of
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.rpc.calls.disk import BlockdevFind
from ganeti_tx.rpc.calls.instance import RunningInstance
from ganeti_tx.rpc.interfaces import RpcError

Seen = Callable[[], Awaitable[RunningInstance | None]]


async def check_down(view: InstanceView, seen: Seen, purpose: str) -> None:
    """@raise OpPrereqError: wrong_state, the instance is to run, or runs. A node that is offline runs nothing."""
    name = view.instance.name
    if view.instance.admin_state is AdminState.UP:
        raise OpPrereqError(f"Instance '{name}' is marked to be up, {purpose}", ECode.STATE)
    if not view.primary.offline and is_running(await seen()):
        raise OpPrereqError(f"Instance '{name}' is running, {purpose}", ECode.STATE)


async def with_state(view: InstanceView, wanted: Instance, offline: bool, seen: Seen) -> Instance:
    """Marked as offline, or as down. @raise OpPrereqError: wrong_state, it is not down."""
    word = "offline" if offline else "online"
    await check_down(view, seen, f"can't change to {word} without being down first")
    state = AdminState.OFFLINE if offline else AdminState.DOWN
    return replace(wanted, admin_state=state, admin_state_source=AdminStateSource.ADMIN)


async def check_new_primary(view: InstanceView, node: Node, group: NodeGroup, seen: Seen) -> None:
    """@raise OpPrereqError: the instance cannot be said to be on the node, which is of the group, now."""
    if node.uuid == view.primary.uuid:
        raise OpPrereqError(
            f"node {node.name} is the primary node of instance {view.instance.name} already", ECode.STATE
        )
    await check_down(view, seen, "cannot change its primary node")
    check_takes_instances(node)
    for network in view.networks.values():
        if network.uuid not in group.networks:
            raise OpPrereqError(
                f"network {network.name} of instance {view.instance.name} is not connected to node group {group.name}"
                f" of node {node.name}",
                ECode.STATE,
            )
    for index, disk in enumerate(view.disks):
        if disk.mirrors and node.uuid not in disk.nodes:
            raise OpPrereqError(
                f"disk/{index} of instance {view.instance.name} has no copy on node {node.name}", ECode.STATE
            )


def moved(disks: Sequence[Disk], node: Node) -> list[Disk]:
    """The disks of an instance as they are when somebody has brought them to a node; mirrors stay where they are."""
    return [replace(disk, nodes=(node.uuid,)) if disk.nodes and not disk.mirrors else disk for disk in disks]


def new_settings(before: Sequence[Disk], after: Sequence[Disk]) -> list[DiskSettings]:
    """What is other about disks that were there before."""
    known = {disk.uuid: settings_of(disk) for disk in before}
    return [settings_of(disk) for disk in after if known.get(disk.uuid) not in (None, settings_of(disk))]


async def warn_of_missing(parts: Parts, view: InstanceView) -> None:
    """Tell of the disks that its node does not have, which is no reason to refuse: they may be brought there later."""
    for index, spec in enumerate(view.disk_specs()):
        try:
            found = await parts.nodes.call(view.primary, BlockdevFind(disk=without_secret(spec)))
        except RpcError as error:
            parts.warn(f"cannot tell whether disk/{index} is on node {view.primary.name}: {error}")
            continue
        if found is None:
            parts.warn(
                f"disk/{index} is not on node {view.primary.name}; bring it there before the instance is started"
            )


def viewed_with(
    view: InstanceView,
    instance: Instance,
    disks: Sequence[Disk],
    nodes: Sequence[Node],
    groups: Sequence[NodeGroup],
    networks: Sequence[Network],
) -> InstanceView:
    """The view of an instance as it is to be; `groups` are those of nodes that it comes to."""
    return view_of(
        instance,
        cluster=view.cluster,
        disks={disk.uuid: disk for disk in disks},
        nodes={node.uuid: node for node in nodes},
        groups={**view.groups, **{group.uuid: group for group in groups}},
        networks={network.uuid: network for network in networks},
    )
