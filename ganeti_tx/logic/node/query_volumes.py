"""The logical volumes of nodes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from ganeti_tx.logic.node.storage_type import asked_nodes, check_fields
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpNodeQueryvols
from ganeti_tx.model.storage_unit import VolumePiece
from ganeti_tx.rpc.calls.storage import NodeVolumes

#: Whose a volume is that is no instance's.
NOBODY = "-"


@attrs.frozen
class VolumeOnNode:
    """A volume, or what of it lies on one device, and whose it is."""

    node: str
    piece: VolumePiece
    instance: str


FIELDS: Mapping[str, Callable[[VolumeOnNode], Any]] = {
    "node": lambda volume: volume.node,
    "phys": lambda volume: volume.piece.physical,
    "vg": lambda volume: volume.piece.group,
    "name": lambda volume: volume.piece.name,
    "size": lambda volume: volume.piece.size,
    "instance": lambda volume: volume.instance,
    "dev": lambda volume: f"/dev/{volume.piece.group}/{volume.piece.name}",
}


def volumes_of(disk: Disk) -> Iterator[tuple[str, ...]]:
    """The logical ids of a disk and of those that it is made of."""
    yield tuple(map(str, disk.logical_id or ()))
    for child in disk.children:
        yield from volumes_of(child)


class LUNodeQueryvols(LogicalUnit[OpNodeQueryvols]):
    """Ask the nodes; of one that does not tell there is a warning."""

    _nodes: list[Node]

    async def check(self) -> None:
        """What is asked for is known."""
        check_fields(self.op.output_fields, list(FIELDS))
        self._nodes = await asked_nodes(self.config, self.op.nodes)

    async def execute(self) -> list[list[Any]]:
        """A row for each volume and device that it lies upon, by node, device and name."""
        owners = await self._owners()
        answers = await self.nodes.call_many(self._nodes, NodeVolumes())
        rows: list[list[Any]] = []
        for node in self._nodes:
            if (error := answers[node.name].error) is not None:
                self.warn(f"Can't compute volume data on node {node.name}: {error.reason}")
                continue
            for piece in sorted(answers[node.name].get(), key=lambda each: (each.physical, each.group, each.name)):
                owner = owners.get((node.uuid, (piece.group, piece.name)), NOBODY)
                volume = VolumeOnNode(node.name, piece, owner)
                rows.append([FIELDS[name](volume) for name in self.op.output_fields])
        return rows

    async def _owners(self) -> dict[tuple[str, tuple[str, ...]], str]:
        """The names of instances by the uuid of the node and the logical id."""
        return {
            (node.uuid, volume): view.instance.name
            for view in (await self.config.instance_views()).each()
            for node in (view.primary, *view.secondaries)
            for disk in view.disks
            for volume in volumes_of(disk)
        }
