"""How the disks of an instance are on one of its nodes: what is lost there, and whether what is there is good."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.rpc.calls.disk import BlockdevStates, DiskState
from ganeti_tx.rpc.interfaces import INodeRpc


async def states_on(nodes: INodeRpc, target: InstanceView, node: Node, indices: Sequence[int]) -> list[DiskState]:
    """The states of some disks on a node. @raise OpPrereqError: it does not tell."""
    specs = target.disk_specs(node)
    call = BlockdevStates(disks=[without_secret(specs[index]) for index in indices])
    states: list[DiskState] = await ask(nodes, node, call, ECode.ENVIRON)
    return states


async def lost_on(nodes: INodeRpc, target: InstanceView, node: Node, indices: Sequence[int]) -> list[int]:
    """The disks of which a node has lost its part."""
    states = await states_on(nodes, target, node, indices)
    return [index for index, state in zip(indices, states, strict=True) if is_lost(state)]


async def not_good_on(nodes: INodeRpc, target: InstanceView, node: Node, indices: Sequence[int]) -> list[int]:
    """The disks, all ready, of which the data on a node are not good."""
    states = await states_on(nodes, target, node, indices)
    return [
        index
        for index, state in zip(indices, states, strict=True)
        if state.status is None or state.status.ldisk_status is not LocalDiskStatus.OK
    ]


async def parts_lost_on(nodes: INodeRpc, target: InstanceView, node: Node, indices: Sequence[int]) -> list[int]:
    """The disks, ready or not, of which a node has lost something that they are made of."""
    specs = target.disk_specs(node)
    lost: list[int] = []
    for index in indices:
        parts = [without_secret(part) for part in specs[index].children or [specs[index]]]
        if any(is_lost(state) for state in await ask(nodes, node, BlockdevStates(disks=parts), ECode.ENVIRON)):
            lost.append(index)
    return lost


def is_lost(state: DiskState) -> bool:
    """Whether a disk, or one that it is made of, is not there or is broken."""
    return state.status is None or state.status.ldisk_status is LocalDiskStatus.FAULTY


def named(indices: Sequence[int]) -> str:
    """Disks, for people."""
    return ", ".join(f"disk/{index}" for index in indices)
