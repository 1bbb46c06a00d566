"""Removing the exports of an instance, which need not be there any more."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.backup.on_nodes import holders, remove_exports
from ganeti_tx.logic.instance.new_name import check_name
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_instance, on_nodes
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.backup import OpBackupRemove

REMOVE = "remove the exports"


class LUBackupRemove(LogicalUnit[OpBackupRemove]):
    """Look on all nodes, and remove what is there; that nothing is there is told, and is no error."""

    _name: str
    _known: bool
    _nodes: list[Node]
    _holders: list[Node]

    async def expand_names(self) -> None:
        """The full name of the instance; of one that is not there, what was given."""
        try:
            named = await self.config.instance(self.op.instance_uuid or self.op.instance_name)
        except OpPrereqError as error:
            if error.ecode is not ECode.NOENT:
                raise
            self._name, self._known = check_name(self.op.instance_name), False
        else:
            self._name, self._known = named.name, True
        self._nodes = await self.config.nodes()

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The name, so that nobody exports or imports it meanwhile, and the nodes."""
        if level is Level.INSTANCE:
            return [on_instance(self._name, Mode.EXCLUSIVE)]
        return on_nodes((node.uuid for node in self._nodes), Mode.SHARED) if level is Level.NODE else ()

    async def check(self) -> None:
        """Where they are."""
        self._holders = await holders(self, self._name, self._nodes)
        if not self._holders and not self._known:
            self.info(
                "Export not found. If trying to remove an export belonging to a deleted instance please use its Fully"
                " Qualified Domain Name."
            )

    def plan(self) -> Plan:
        """Those that were found."""
        nodes = tuple(node.name for node in self._holders)
        return [PlannedStep(REMOVE, nodes, (f"exports of {self._name}",))] if nodes else []

    async def execute(self) -> None:
        """@raise OpExecError: one is still there."""
        if not self._holders:
            return
        async with self.step(REMOVE):
            if faults := await remove_exports(self, self._name, self._holders):
                raise OpExecError("; ".join(faults))
