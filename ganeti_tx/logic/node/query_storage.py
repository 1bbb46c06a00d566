"""The storage units of nodes."""

from typing import Any

from ganeti_tx.logic.node.storage_type import asked_nodes, check_fields, reported_type
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpNodeQueryStorage
from ganeti_tx.model.storage_unit import UNIT_FIELDS, places, unit_row
from ganeti_tx.rpc.calls.storage import StorageList


class LUNodeQueryStorage(LogicalUnit[OpNodeQueryStorage]):
    """Ask the nodes; of one that does not tell there is a warning."""

    _type: StorageType
    _nodes: list[Node]

    async def check(self) -> None:
        """What is asked for is known."""
        check_fields(self.op.output_fields, UNIT_FIELDS)
        self._type = reported_type(self.op.storage_type, await self.config.cluster())
        self._nodes = await asked_nodes(self.config, self.op.nodes)

    async def execute(self) -> list[list[Any]]:
        """A row for each unit, by node and name."""
        cluster = await self.config.cluster()
        call = StorageList(storage_type=self._type.value, places=places(self._type, cluster), unit=self.op.name)
        answers = await self.nodes.call_many(self._nodes, call)
        rows: list[list[Any]] = []
        for node in self._nodes:
            if (error := answers[node.name].error) is not None:
                self.warn(f"Can't get storage data from node {node.name}: {error.reason}")
                continue
            for unit in sorted(answers[node.name].get(), key=lambda unit: unit.name):
                row = unit_row(node.name, self._type, unit)
                rows.append([row[name] for name in self.op.output_fields])
        return rows
