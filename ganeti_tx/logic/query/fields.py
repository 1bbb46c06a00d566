"""Telling by a job which fields a query by a job knows."""

from typing import Any

from ganeti_tx.logic.query.tables import TABLES
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpQueryFields
from ganeti_tx.query.language.field import unknown


class LUQueryFields(LogicalUnit[OpQueryFields]):
    """As LUXI's QueryFields tells of other resources."""

    async def execute(self) -> dict[str, Any]:
        """The definitions of the fields named, or without any of all by name."""
        fields = TABLES[self.op.what].fields
        asked = self.op.fields or sorted(fields)
        return {"fields": [(fields.get(name) or unknown(name)).definition() for name in asked]}
