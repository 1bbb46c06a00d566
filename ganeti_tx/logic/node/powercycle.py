"""Resetting a node through its own kernel."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.opcodes import OpNodePowercycle
from ganeti_tx.rpc.calls.administration import NodePowercycle

RESET = "reset the node"


class LUNodePowercycle(LogicalUnit[OpNodePowercycle]):
    """It needs no locks: it is for nodes on which what holds them does not come to an end.

    Nodes that are marked offline can be reset, too: that is what remains to be done with them.
    """

    _node: Node

    async def expand_names(self) -> None:
        """Which node."""
        self._node = await self.config.node(self.op.node_uuid or self.op.node_name)

    async def check(self) -> None:
        """The master only if that is really meant."""
        if self._node.uuid == (await self.config.cluster()).master_node and not self.op.force:
            raise OpPrereqError(
                f"node {self._node.name} is the master: all jobs end with it; give --force (force) to reset it all the same",
                ECode.INVAL,
            )

    def plan(self) -> Plan:
        """One step."""
        return [PlannedStep(RESET, (self._node.name,), (f"node {self._node.name}",))]

    async def execute(self) -> str:
        """What the node says."""
        async with self.step(RESET):
            return await self.nodes.call(NodeAddress(self._node.name, self._node.primary_ip), NodePowercycle())
