"""Giving tags to one object."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError, TagError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.tags.locks import tag_locks, tagged
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpTagsSet
from ganeti_tx.model.tags import check_tags


class LUTagsSet(LogicalUnit[OpTagsSet]):
    """Add tags to one object."""

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The object's lock."""
        return await tag_locks(self, level)

    async def check(self) -> None:
        """Each is a tag."""
        try:
            check_tags(self.op.tags)
        except TagError as error:
            raise OpPrereqError(str(error), ECode.INVAL)

    def plan(self) -> Plan:
        """One change."""
        return [PlannedStep("set the tags", (), (tagged(self.op.kind, self.op.name),))]

    async def execute(self) -> None:
        """Add them."""
        async with self.step("set the tags"):
            await self.config.change_tags(self.op.kind, self.op.name or None, list(self.op.tags), [])
