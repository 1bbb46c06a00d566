"""Taking a node out of the cluster."""

from collections.abc import Mapping, Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.node.kept_keys import advice
from ganeti_tx.logic.node.pool import FILL_POOL, find_promotions, tell
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_nodes
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpNodeRemove
from ganeti_tx.rpc.calls.node import NodeLeaveCluster
from ganeti_tx.rpc.interfaces import RpcError

LEAVE, FORGET = "have the node leave the cluster", "remove the node from the configuration"


class LUNodeRemove(LogicalUnit[OpNodeRemove]):
    """Remove a node that has no instances; one that does not answer is removed all the same."""

    exclusive_cluster = True
    hook = Hook("node-remove", HookObject.NODE, pre=HookNodes.OTHERS, post=HookNodes.OTHERS)
    _node: Node

    async def expand_names(self) -> None:
        """Which node."""
        self._node = await self.config.node(self.op.node_uuid or self.op.node_name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The node."""
        return on_nodes([self._node.uuid], Mode.EXCLUSIVE) if level is Level.NODE else ()

    async def hook_values(self) -> Mapping[str, object]:
        """Its name."""
        return {"OP_TARGET": self._node.name, "NODE_NAME": self._node.name}

    async def object_nodes(self) -> Sequence[Node]:
        """The node."""
        return [self._node]

    async def check(self) -> None:
        """It is not the master, and nothing lives on it."""
        node = self._node
        if node.uuid == (await self.config.cluster()).master_node:
            raise OpPrereqError(
                f"node {node.name} is the master and cannot be removed; 'gnt-cluster destroy' ends a cluster of one node",
                ECode.INVAL,
            )
        primary, secondary = await self.config.instances_of_node(node.uuid)
        if found := [instance.name for instance in (*primary, *secondary)]:
            raise OpPrereqError(
                f"instance {found[0]} still lives on node {node.name}; remove or move it first", ECode.INVAL
            )

    def plan(self) -> Plan:
        """Others take its place, if it is needed; it leaves; nobody knows it any more."""
        node = (f"node {self._node.name}",)
        return [FILL_POOL, PlannedStep(LEAVE, (self._node.name,), node), PlannedStep(FORGET, (), node)]

    async def execute(self) -> None:
        """Others take its place; then it leaves, while it still accepts the calls of this master; then nobody knows it any more."""
        await self._replace()
        await self.context.hooks_before_leaving([self._node])
        self.info(f"Stopping the node daemon and removing the cluster's files from node {self._node.name}")
        async with self.step(LEAVE):
            left = await self._leave()
        async with self.step(FORGET):
            await self.config.remove_node(self._node.uuid)
        await self.config.when_distributed()  # from now on no node takes calls from it
        (self.info if left else self.warn)(advice(self._node))

    async def _leave(self) -> bool:
        """Whether it has removed what it had of the cluster."""
        try:
            await self.nodes.call(self._node, NodeLeaveCluster())
        except RpcError as error:
            self.warn(f"{error}; remove the cluster's files there by hand")
            return False
        return True

    async def _replace(self) -> None:
        """Promote another node if the pool of master candidates would lack one."""
        size = (await self.config.cluster()).candidate_pool_size
        others = [node for node in await self.config.nodes() if node.uuid != self._node.uuid]
        promotions = await find_promotions(self, others, size)
        if promotions.nodes:
            async with self.step(FILL_POOL.title):
                await self.config.change_nodes(promotions.nodes, promotions.digests)
            tell(self, promotions)
