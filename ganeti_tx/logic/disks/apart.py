"""Mirrors whose two sides are not alike, for people: why, and what mends those that never will be by themselves."""

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.disks.health import states_on
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.mirror_state import LOST, UP_TO_DATE, MirrorState, compared, is_split, why_apart
from ganeti_tx.model.node import Node
from ganeti_tx.model.status import BlockDevStatus, LocalDiskStatus
from ganeti_tx.rpc.interfaces import INodeRpc


def told_apart(target: InstanceView, own: MirrorState, other: MirrorState | None) -> str:
    """Why a side is not alike with the other, and the commands that help when both have changed."""
    return why_apart(own, other) + (f"; {way_out(target)}" if is_split(own, other) else "")


def way_out(target: InstanceView) -> str:
    """How one says whose changes are kept when both sides of a mirror have some."""
    name, primary, secondary = target.instance.name, target.primary.name, target.secondaries[0].name
    return (
        f"'gnt-instance replace-disks -s {name}' keeps those of {primary} and discards those of {secondary}; after"
        f" 'gnt-instance failover --ignore-consistency {name}' it keeps those of {secondary} and discards those of {primary}"
    )


def what_mends(target: InstanceView, index: int, state: BlockDevStatus) -> str:
    """How a disk is that stays degraded, as its primary node tells; and what mends it, if a good copy is left."""
    name, side = target.instance.name, state.mirror
    option, other = "", target.secondaries[0].name if target.secondaries else ""
    if side is not None and state.ldisk_status is LocalDiskStatus.FAULTY:
        option, loser, is_good = "-p", target.primary.name, side.peer_disk == UP_TO_DATE
    elif side is not None and side.peer_disk in LOST:
        option, loser, is_good = "-s", other, state.ldisk_status is LocalDiskStatus.OK
    if option:
        command = f", which gets new volumes by 'gnt-instance replace-disks {option} {name}'" if is_good else ""
        return f"disk/{index} has lost its part on node {loser}{command}"
    why = "not up to date" if side is None else why_apart(side, None)
    command = f"gnt-instance activate-disks --wait-for-sync {name}"
    return f"disk/{index} is {why}, and mended by '{command}' as soon as its nodes reach each other"


async def why_degraded(nodes: INodeRpc, target: InstanceView, node: Node, index: int) -> str:
    """The same of a disk as seen on a node; empty when its sides are alike, or nobody tells."""
    sides = {each.uuid: await _side(nodes, target, each, index) for each in (target.primary, *target.secondaries)}
    own = sides.pop(node.uuid)
    other = next((side for side in sides.values() if side is not None), None)
    return "" if own is None else told_apart(target, own, other)


async def why_other(nodes: INodeRpc, target: InstanceView, node: Node, index: int) -> str:
    """Why what a node has of a disk is not what its other node has; empty if it is the same, lost here, or nobody tells."""
    own, other = [
        await _side(nodes, target, each, index)
        for each in sorted((target.primary, *target.secondaries), key=lambda each: each.uuid != node.uuid)
    ]
    if own is None or other is None or not compared(own.generations, other.generations):
        return ""
    return told_apart(target, own, other)


async def split_disks(nodes: INodeRpc, target: InstanceView) -> list[int]:
    """The disks of which both sides have changes that the other has not."""
    split: list[int] = []
    for index, disk in enumerate(target.disks if target.secondaries else ()):
        sides = [await _side(nodes, target, node, index) for node in (target.primary, *target.secondaries)]
        if disk.nodes and sides[0] is not None and is_split(sides[0], sides[1]):
            split.append(index)
    return split


async def _side(nodes: INodeRpc, target: InstanceView, node: Node, index: int) -> MirrorState | None:
    if node.offline:
        return None
    try:
        (state,) = await states_on(nodes, target, node, [index])
    except OpPrereqError:
        return None
    return None if state.status is None else state.status.mirror
