"""Changing a storage unit of a node."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.node.storage_type import check_enabled
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_nodes
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpNodeModifyStorage
from ganeti_tx.model.storage_unit import CHANGEABLE
from ganeti_tx.rpc.calls.storage import StorageModify

CHANGE = "change the storage unit"


class LUNodeModifyStorage(LogicalUnit[OpNodeModifyStorage]):
    """The node does it; it tells whether there is such a unit."""

    _node: Node
    _unit: str
    _allocatable: bool

    async def expand_names(self) -> None:
        """The node, and what can be changed at all."""
        self._node = await self.config.node(self.op.node_uuid or self.op.node_name)
        kind, changes = self.op.storage_type, self.op.changes
        known = CHANGEABLE.get(kind)
        if known is None:
            raise OpPrereqError(
                f"Storage units of type '{kind.value}' can not be modified; those that can:"
                f" {', '.join(each.value for each in CHANGEABLE)}",
                ECode.INVAL,
            )
        if unknown := sorted(map(str, changes.keys() - known)):
            raise OpPrereqError(
                f"The following fields can not be modified for storage units of type '{kind.value}':"
                f" {', '.join(unknown)}; those that can: {', '.join(sorted(known))}",
                ECode.INVAL,
            )
        allocatable = changes.get("allocatable")
        if not isinstance(allocatable, bool):
            raise OpPrereqError(f"changes.allocatable: must be true or false, not {allocatable!r}", ECode.INVAL)
        if self.op.name is None:
            raise OpPrereqError("Which storage unit is to be changed? Give its name", ECode.INVAL)
        self._unit, self._allocatable = self.op.name, allocatable

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The node's."""
        return on_nodes([self._node.uuid], Mode.EXCLUSIVE) if level is Level.NODE else ()

    async def check(self) -> None:
        """The node is there."""
        self._node = await self.config.node(self._node.uuid)
        check_online(self._node, "change storage of it")
        check_enabled(self.op.storage_type, await self.config.cluster())

    def plan(self) -> Plan:
        """One call."""
        return [PlannedStep(CHANGE, (self._node.name,), (f"storage unit {self._unit}",))]

    async def execute(self) -> None:
        """Have it done."""
        call = StorageModify(storage_type=self.op.storage_type.value, unit=self._unit, allocatable=self._allocatable)
        async with self.step(CHANGE):
            await self.nodes.call(self._node, call)
