"""Whether nodes have room for more of a disk that is there."""

from collections.abc import Sequence

from ganeti_tx.logic.questions import check_room
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.node import Node
from ganeti_tx.model.pools import pool_of
from ganeti_tx.rpc.calls.node import StorageUnit
from ganeti_tx.rpc.interfaces import INodeRpc


def data_parts(disk: Disk) -> Sequence[Disk]:
    """Those that hold the data of a disk and have its size: it alone, if it is not made of others."""
    declared = zip(disk.template.children, disk.children, strict=False)
    return [part for child, part in declared if child.size is None] or [disk]


def all_parts(disk: Disk) -> Sequence[Disk]:
    """Those that take up the room of a disk."""
    return disk.children or (disk,)


def room_wanted(parts: Sequence[tuple[Disk, int]], cluster: Cluster) -> list[tuple[StorageUnit, int]]:
    """How many MiB of which pools are wanted for disks that are to have so much more."""
    wanted: dict[tuple[str, str], int] = {}
    for part, amount in parts:
        template = TEMPLATES[part.dev_type]
        if template.pool is not None:
            own = str((part.logical_id or [""])[0]) if template.pool_key is not None else pool_of(template, cluster)
            key = (template.storage.value, own)
            wanted[key] = wanted.get(key, 0) + amount
    return [(StorageUnit(kind, name), size) for (kind, name), size in wanted.items()]


async def check_disk_room(
    nodes: INodeRpc,
    cluster: Cluster,
    homes: Sequence[Node],
    parts: Sequence[tuple[Disk, int]],
    *,
    exclusive: bool = False,
) -> None:
    """@raise OpPrereqError: a node has not so much more, or does not tell."""
    wanted = room_wanted(parts, cluster)
    for node in homes:
        await check_room(nodes, node, wanted, exclusive=exclusive)
