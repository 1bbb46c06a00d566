"""Rows of values to text: columns by kind, sizes by unit, and words for values that could not be had."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ganeti_tx.cli.tree import leaf
from ganeti_tx.model import sizes

#: Statuses of a value in a query's answer (Ganeti 3.0 query table, result_status).
NORMAL, UNKNOWN, NO_DATA, UNAVAILABLE, OFFLINE = range(5)
_SHORT = {UNKNOWN: "??", NO_DATA: "?", UNAVAILABLE: "-", OFFLINE: "*"}
_VERBOSE = {UNKNOWN: "(unknown)", NO_DATA: "(nodata)", UNAVAILABLE: "(unavail)", OFFLINE: "(offline)"}

UNKNOWN_KIND = "unknown"
_RIGHT = frozenset({"number", "unit", "float"})
_GIB = 1024
_TIB = 1024 * 1024

Formatter = Callable[[Any], str]


class Column(NamedTuple):
    """One column: its title, how a value reads, and on which side it stands."""

    title: str
    format: Formatter
    right: bool = False
    #: The field, where its words may get colours.
    name: str = ""


class Style(NamedTuple):
    """How a table is shown; with a separator nothing is aligned."""

    headers: bool = True
    separator: str | None = None
    units: str | None = None
    verbose: bool = False
    #: A cell of a column to what a terminal shows in colour; it may add nothing that has a width.
    paint: Callable[[str, str], str] | None = None

    @property
    def size_unit(self) -> str:
        """Human, or mebibytes where a program is likely to read."""
        return self.units or ("h" if self.separator is None else "m")


def absent(status: int) -> str:
    """The word for a value that could not be had."""
    return _VERBOSE.get(status, str(status))


def format_size(mebibytes: float, unit: str) -> str:
    """A size in mebibytes; unit h chooses one and names it, m, g and t stand without."""
    if unit == "m":
        return f"{mebibytes:.0f}"
    if unit == "g":
        return f"{mebibytes / _GIB:.1f}"
    if unit == "t":
        return f"{mebibytes / _TIB:.1f}"
    return sizes.shown(mebibytes)


def format_time(seconds: float | None) -> str:
    """A time since the epoch in local time."""
    return "N/A" if seconds is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def format_split_time(stamp: Sequence[int] | None) -> str:
    """A job's [seconds, microseconds] in local time, with the microseconds."""
    return "N/A" if stamp is None else f"{format_time(stamp[0])}.{stamp[1]:06d}"


def format_bool(value: object) -> str:
    """Y or N."""
    return "Y" if value else "N"


def format_list(values: Iterable[object]) -> str:
    """With commas, as some fields of kind other are shown; the rest of them are shown as Python prints them."""
    return ",".join(map(str, values))


def formatter_of(kind: str, unit: str) -> Formatter:
    """How a value of a field kind reads."""
    if kind == "unit":
        return lambda value: format_size(value, unit)
    return {"bool": format_bool, "timestamp": format_time, "float": leaf}.get(kind, str)


def query_columns(fields: Sequence[dict[str, Any]], style: Style, overrides: dict[str, Formatter]) -> list[Column]:
    """Columns for the field definitions of a query's answer; `overrides` formats some fields by name."""
    return [_query_column(field, style, overrides) for field in fields]


def _query_column(field: dict[str, Any], style: Style, overrides: dict[str, Formatter]) -> Column:
    name, kind = field["name"], field["kind"]
    plain = overrides.get(name) or formatter_of(kind, style.size_unit)
    words = _VERBOSE if style.verbose else _SHORT

    def read(entry: Any) -> str:
        status, value = entry
        return plain(value) if status == NORMAL else words.get(status, str(status))

    return Column(field["title"] or name, read, kind in _RIGHT and name not in overrides, name)


def table(columns: Sequence[Column], rows: Iterable[Sequence[Any]], style: Style) -> list[str]:
    """The lines of a table; the last column has no spaces behind it. Made column by column, which is faster."""
    held = list(rows)
    if not columns:
        return [""] * (len(held) + style.headers)
    cells = list(zip(*held, strict=True)) if held else [()] * len(columns)
    texts = [
        [*([column.title] if style.headers else ()), *map(column.format, values)]
        for column, values in zip(columns, cells, strict=True)
    ]
    if style.separator is None:
        last = len(columns) - 1
        texts = [_aligned(columns[index], each, style, index == last) for index, each in enumerate(texts)]
    between = " " if style.separator is None else style.separator
    return [between.join(line) for line in zip(*texts, strict=True)]


def _aligned(column: Column, texts: Sequence[str], style: Style, is_last: bool) -> list[str]:
    width = max(map(len, texts), default=0)
    if column.right:
        aligned = [text.rjust(width) for text in texts]
    else:
        aligned = list(texts) if is_last else [text.ljust(width) for text in texts]
    if style.paint is None:
        return aligned
    plain = aligned[:1] if style.headers else []
    return [*plain, *(style.paint(column.name, text) for text in aligned[len(plain) :])]


def unknown_fields(fields: Sequence[dict[str, Any]]) -> list[str]:
    """The names that the server did not know."""
    return [field["name"] for field in fields if field["kind"] == UNKNOWN_KIND]
