"""Plain rows as JSON. What the configuration alone tells is encoded once, and kept as long as it stays the same."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from ganeti_tx.query.language.cell import NORMAL
from ganeti_tx.query.language.field import Field

T = TypeVar("T")
#: The rows' parts that have the cells of some fields: JSON of a list, without its brackets.
Parts = list[bytes]
#: Bytes that are kept of one kind of object; programs ask for a few combinations of fields over and over.
MOST = 16 * 1024 * 1024
#: What a part takes besides its bytes.
OVERHEAD = 48


class AllRows(list[T]):
    """All objects of one kind that a state of the configuration has; what is not live of them is kept."""

    def __init__(self, rows: Iterable[T]) -> None:
        super().__init__(rows)
        self._kept: dict[tuple[str, ...], Parts] = {}
        self._room = MOST

    def parts(self, fields: Sequence[Field], context: Any) -> Parts:
        """The parts of fields that need no live data, made when they are asked for first."""
        key = tuple(each.name for each in fields)
        parts = self._kept.get(key)
        if parts is None:
            parts = encoded(fields, self, context)
            self._keep(key, parts, sum(map(len, parts)) + OVERHEAD * (len(parts) + len(key)))
        return parts

    def _keep(self, key: tuple[str, ...], parts: Parts, size: int) -> None:
        if size > MOST:
            return
        if size > self._room:
            self._kept.clear()
            self._room = MOST
        self._kept[key] = parts
        self._room -= size


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
