"""Secret parameters that come through the queue."""

from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes.test import OpTestOsParams


class LUTestOsParams(LogicalUnit[OpTestOsParams]):
    """Tell which have come; their values stand in no log."""

    async def execute(self) -> None:
        """One line."""
        self.info(f"Secret OS parameters: {self.op.osparams_secret or {}}")
