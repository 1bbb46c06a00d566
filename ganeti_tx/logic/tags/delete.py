"""Taking tags from one object."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.tags.locks import tag_locks, tagged
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpTagsDel

#: So many tags are named in an error.
TOLD = 50


class LUTagsDel(LogicalUnit[OpTagsDel]):
    """Remove tags from one object."""

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The object's lock."""
        return await tag_locks(self, level)

    async def check(self) -> None:
        """Each is there."""
        present = sorted(await self.config.tags(self.op.kind, self.op.name or None))
        if missing := [tag for tag in self.op.tags if tag not in present]:
            named = ", ".join(repr(tag) for tag in missing[:TOLD])
            there = ", ".join([*present[:TOLD], *(["..."] if len(present) > TOLD else [])]) or "none"
            raise OpPrereqError(f"Tag(s) {named} not found; there are {there}", ECode.NOENT)

    def plan(self) -> Plan:
        """One change."""
        return [PlannedStep("remove the tags", (), (tagged(self.op.kind, self.op.name),))]

    async def execute(self) -> None:
        """Remove them."""
        async with self.step("remove the tags"):
            await self.config.change_tags(self.op.kind, self.op.name or None, [], list(self.op.tags))
