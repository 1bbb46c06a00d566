"""Columns of cells, and plain rows as JSON. What the configuration alone tells is made once, and kept while it stays the same."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from ganeti_tx.query.language.cell import NORMAL, Cell
from ganeti_tx.query.language.field import Field, Kind

T = TypeVar("T")
#: The rows' parts that have the cells of some fields: JSON of a list, without its brackets.
Parts = list[bytes]
#: Bytes that are kept of one kind of object; programs ask for a few combinations of fields over and over.
MOST = 16 * 1024 * 1024
#: What a part takes besides its bytes.
OVERHEAD = 48
#: What a cell takes besides its value, which is the configuration's.
CELL = 64


class AllRows(list[T]):
    """All objects of one kind that a state of the configuration has; what is not live of them is kept."""

    def __init__(self, rows: Iterable[T]) -> None:
        super().__init__(rows)
        self._kept: dict[tuple[str, ...], Parts] = {}
        self._columns: dict[str, list[Cell]] = {}
        self._room = MOST

    def column(self, field: Field, context: Any) -> list[Cell]:
        """The cells of a field, which nobody changes."""
        cells = self._columns.get(field.name)
        if cells is None:
            cells = field.column(context, self)
            # values of other kinds may be of any size, and made for their cells alone
            if not field.live and field.kind is not Kind.OTHER and self._has_room(CELL * len(cells)):
                self._columns[field.name] = cells
        return cells

    def parts(self, fields: Sequence[Field], context: Any) -> Parts:
        """The parts of fields that need no live data, made when they are asked for first."""
        key = tuple(each.name for each in fields)
        parts = self._kept.get(key)
        if parts is None:
            parts = encoded(fields, self, context)
            if self._has_room(sum(map(len, parts)) + OVERHEAD * (len(parts) + len(key))):
                self._kept[key] = parts
        return parts

    def _has_room(self, size: int) -> bool:
        """Take so much room; what is kept makes way."""
        if size > MOST:
            return False
        if size > self._room:
            self._kept.clear()
            self._columns.clear()
            self._room = MOST
        self._room -= size
        return True


def column(field: Field, rows: Sequence[Any], context: Any) -> list[Cell]:
    """A field's cell of every row."""
    return rows.column(field, context) if isinstance(rows, AllRows) else field.column(context, rows)


def encoded_rows(fields: Sequence[Field], rows: Sequence[Any], context: Any) -> msgspec.Raw:
    """A list of the rows, each a list of values, null for whatever is not normal.

    @raise TypeError: a value cannot be JSON
    """
    runs = [(live, list(run)) for live, run in groupby(fields, attrgetter("live"))]
    parts = [
        rows.parts(run, context) if isinstance(rows, AllRows) and not live else encoded(run, rows, context)
        for live, run in runs
    ]
    each = [b"[" + b",".join(row) + b"]" for row in zip(*parts, strict=True)] if parts else [b"[]"] * len(rows)
    return msgspec.Raw(b"[" + b",".join(each) + b"]")


def encoded(fields: Sequence[Field], rows: Sequence[Any], context: Any) -> Parts:
    """The parts of these rows."""
    columns = [[value if status == NORMAL else None for status, value in each.column(context, rows)] for each in fields]
    encode = msgspec.json.Encoder().encode
    return [in_ascii(encode(row))[1:-1] for row in zip(*columns, strict=True)]


def in_ascii(data: bytes) -> bytes:
    """The same JSON as LUXI's clients expect it."""
    return data if data.isascii() else json.dumps(msgspec.json.decode(data), separators=(",", ":")).encode("ascii")
