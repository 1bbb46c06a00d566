"""What a new cluster runs first."""

from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpClusterPostInit


class LUClusterPostInit(LogicalUnit[OpClusterPostInit]):
    """The job that a new cluster runs first: it shows that jobs run."""

    async def execute(self) -> bool:
        """True."""
        await self.config.cluster()
        return True
