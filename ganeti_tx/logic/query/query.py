"""Answering a query by a job."""

from typing import Any

from ganeti_tx.logic.query.tables import TABLES
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpQuery
from ganeti_tx.query.language.field import unknown
from ganeti_tx.query.language.filter import Parser
from ganeti_tx.query.language.slices import at_once


class LUQuery(LogicalUnit[OpQuery]):
    """Rows of [status, value], as LUXI's Query gives them. No lock is taken, asked for or not: rows are read at one time."""

    async def check(self) -> None:
        """A filter that can be read, over fields that there are."""
        self._table = TABLES[self.op.what]
        raw = self.op.qfilter
        self._filter = Parser(self._table.fields).parse(raw) if raw is not None else None

    async def execute(self) -> dict[str, Any]:
        """The definitions of the fields and the cells of what passes the filter; an unknown field's cells say so."""
        fields = [self._table.fields.get(name) or unknown(name) for name in self.op.fields]
        filtered = list(self._filter.fields()) if self._filter is not None else []
        rows, context = await self._table.rows(self, frozenset(field.name for field in (*fields, *filtered)))
        if self._filter is not None:
            passes = at_once(self._filter.bind(lambda field: field.reader(context))(rows))
            rows = [row for row, passed in zip(rows, passes, strict=True) if passed]
        columns = [field.column(context, rows) for field in fields]
        cells = [[list(column[index]) for column in columns] for index in range(len(rows))]
        return {"fields": [field.definition() for field in fields], "data": cells}
