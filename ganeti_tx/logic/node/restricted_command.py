"""Running a program that the administrator has laid out on nodes."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_nodes
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpRestrictedCommand
from ganeti_tx.rpc.calls.administration import RestrictedCommand
from ganeti_tx.rpc.interfaces import NodeCallError, Outcome

RUN = "run the command"


class LURestrictedCommand(LogicalUnit[OpRestrictedCommand]):
    """On all the nodes at the same time. Gives for each whether it succeeded, with what it said or why not."""

    _nodes: list[Node]

    async def expand_names(self) -> None:
        """Which nodes; one that is named twice runs it once for both."""
        names = self.op.node_uuids or self.op.nodes
        if not names:
            raise OpPrereqError("no node is named; give at least one", ECode.INVAL)
        self._nodes = [await self.config.node(name) for name in names]

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The nodes, if nothing else may be done there meanwhile."""
        if level is not Level.NODE or not self.op.use_locking:
            return ()
        return on_nodes([node.uuid for node in self._nodes], Mode.EXCLUSIVE)

    async def check(self) -> None:
        """Which of them are offline is known best at the last moment."""
        self._nodes = [await self.config.node(node.uuid) for node in self._nodes]

    def plan(self) -> Plan:
        """One step; what the program changes only its author knows."""
        return [PlannedStep(RUN, tuple(dict.fromkeys(node.name for node in self._nodes)))]

    async def execute(self) -> list[tuple[bool, str]]:
        """In the order in which they were asked for."""
        async with self.step(RUN):
            outcomes = await self.nodes.call_many(self._nodes, RestrictedCommand(command=self.op.command))
        return [told(outcomes[node.name]) for node in self._nodes]


def told(outcome: Outcome[str]) -> tuple[bool, str]:
    """Of one node. What it said itself needs no word of the call."""
    if isinstance(outcome.error, NodeCallError):
        return False, str(outcome.error.cause)
    return outcome.error is None, str(outcome.error) if outcome.error else outcome.value or ""
