"""Reading the tags of one object."""

from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpTagsGet


class LUTagsGet(LogicalUnit[OpTagsGet]):
    """The tags of one object."""

    async def execute(self) -> list[str]:
        """Sorted."""
        return await self.config.tags(self.op.kind, self.op.name or None)
