"""Sending the configuration round."""

from ganeti_tx.logic.base import LogicalUnit
from ganeti_tx.model.opcodes import OpClusterPostInit, OpClusterRedistConf


class Redistribute(LogicalUnit[OpClusterRedistConf]):
    """Wait until every node that can be reached has the present configuration."""

    async def execute(self) -> None:
        """Wait."""
        await self.config.when_distributed()


class PostInit(LogicalUnit[OpClusterPostInit]):
    """The job that a new cluster runs first: it shows that jobs run."""

    async def execute(self) -> bool:
        """True."""
        await self.config.cluster()
        return True
