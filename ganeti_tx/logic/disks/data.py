"""One disk of an instance as gnt-instance info shows it."""

from typing import Any

from ganeti_tx.model import logical_id
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.disk import BlockdevFind
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError


async def disk_data(nodes: INodeRpc, target: InstanceView, index: int, static: bool) -> dict[str, Any]:
    """The disk, with its state on the primary node and the secondary one unless only static data are wanted."""
    disk = target.disks[index]
    secondary = [node for node in target.secondaries if node.uuid in disk.nodes]
    return {
        **described(target, disk),
        "pstatus": None if static else await state_on(nodes, target, target.primary, index),
        "sstatus": None if static or not secondary else await state_on(nodes, target, secondary[0], index),
    }


def described(target: InstanceView, disk: Disk) -> dict[str, Any]:
    """What the configuration says of a disk and of those it is made of."""
    return {
        "iv_name": disk.iv_name,
        "dev_type": disk.dev_type.value,
        "logical_id": shown_id(target, disk),
        "mode": disk.mode,
        "size": disk.size,
        "spindles": disk.spindles,
        "name": disk.name,
        "uuid": disk.uuid,
        "children": [described(target, child) for child in disk.children],
    }


def shown_id(target: InstanceView, disk: Disk) -> list[str | int]:
    """The logical id; that of a mirror with its nodes' names and without its secret, for job files keep results."""
    names = {uuid: node.name for uuid, node in target.nodes.items()}
    return logical_id.shown(disk.template.logical_id, disk.logical_id, names)


async def state_on(nodes: INodeRpc, target: InstanceView, node: Node, index: int) -> list[Any] | None:
    """[path, major, minor, sync percent, estimated seconds, degraded, local state]; None when the node cannot tell."""
    try:
        state = await nodes.call(node, BlockdevFind(disk=without_secret(target.disk_specs(node)[index])))
    except RpcError:
        return None
    if state is None:
        return None
    return [
        *(state.dev_path, state.major, state.minor, state.sync_percent),
        *(state.estimated_time, state.is_degraded, state.ldisk_status),
    ]
