"""The last step before a cluster ends."""

from collections.abc import Mapping

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.opcodes import OpClusterDestroy


class LUClusterDestroy(LogicalUnit[OpClusterDestroy]):
    """Make sure that nothing is left in the cluster but its master; the command then takes that apart."""

    exclusive_cluster = True
    hook = Hook("cluster-destroy", HookObject.CLUSTER, pre=HookNodes.NONE, post=HookNodes.MASTER)

    async def hook_values(self) -> Mapping[str, object]:
        """The cluster's name."""
        return {**await super().hook_values(), "OP_TARGET": (await self.config.cluster()).cluster_name}

    async def check(self) -> None:
        """Only the master is left."""
        cluster = await self.config.cluster()
        others = [node.name for node in await self.config.nodes() if node.uuid != cluster.master_node]
        instances = await self.config.instance_names()
        left = [
            f"{len(found)} {what} ({', '.join(found[:5])})"
            for what, found in (("other nodes", others), ("instances", instances))
            if found
        ]
        if left:
            raise OpPrereqError(f"there are still {' and '.join(left)} in the cluster; remove them first", ECode.INVAL)

    async def execute(self) -> str:
        """The master's uuid."""
        return (await self.config.cluster()).master_node
