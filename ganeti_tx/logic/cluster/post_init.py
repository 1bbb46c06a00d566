"""What a new cluster runs first."""

from collections.abc import Mapping

from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.opcodes import OpClusterPostInit


class LUClusterPostInit(LogicalUnit[OpClusterPostInit]):
    """The job that a new cluster runs first: it shows that jobs run."""

    hook = Hook("cluster-init", HookObject.CLUSTER, pre=HookNodes.NONE, post=HookNodes.MASTER)

    async def hook_values(self) -> Mapping[str, object]:
        """The cluster's name."""
        return {**await super().hook_values(), "OP_TARGET": (await self.config.cluster()).cluster_name}

    async def execute(self) -> bool:
        """True."""
        await self.config.cluster()
        return True
