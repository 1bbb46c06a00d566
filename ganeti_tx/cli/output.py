"""Rows of values to text: columns by kind, sizes by unit, and words for values that could not be had."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ganeti_tx.cli.tree import in_cell, leaf
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
    #: How many values read, where that is faster than one after the other.
    format_all: Callable[[Sequence[Any]], list[str]] | None = None

    def texts(self, values: Sequence[Any]) -> Iterable[str]:
        """How these values read, each within its cell, whoever has made them."""
        read = list(map(self.format, values)) if self.format_all is None else self.format_all(values)
        return read if "".join(read).isprintable() else map(in_cell, read)


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

    def read_all(entries: Sequence[Any]) -> list[str]:
        if plain is str:
            return [
                value if status == NORMAL and value.__class__ is str else read((status, value))
                for status, value in entries
            ]
        known: dict[int, str] = {}  # there are few different numbers, and most values of these kinds are such
        return [
            read((status, value))
            if status != NORMAL or value.__class__ is not int
            else known.get(value) or known.setdefault(value, plain(value))
            for status, value in entries
        ]

    return Column(field["title"] or name, read, kind in _RIGHT and name not in overrides, name, read_all)


def table(columns: Sequence[Column], rows: Iterable[Sequence[Any]], style: Style) -> list[str]:
    """The lines of a table; the last column has no spaces behind it. Made column by column, which is faster."""
    held = list(rows)
    if not columns:
        return [""] * (len(held) + style.headers)
    cells = list(zip(*held, strict=True)) if held else [()] * len(columns)
    texts = [
        [*([in_cell(column.title)] if style.headers else ()), *column.texts(values)]
        for column, values in zip(columns, cells, strict=True)
    ]
    if style.separator is not None:
        return [style.separator.join(line) for line in zip(*texts, strict=True)]
    forms = [_form(columns[index], each, index == len(columns) - 1) for index, each in enumerate(texts)]
    if style.paint is not None:  # what a colour adds has no width
        texts = [_painted(*each, style) for each in zip(columns, forms, texts, strict=True)]
        forms = ["%s"] * len(columns)
    line_form = " ".join(forms)
    return [line_form % line for line in zip(*texts, strict=True)]


def _form(column: Column, texts: Sequence[str], is_last: bool) -> str:
    """How a cell stands in its line."""
    if is_last and not column.right:
        return "%s"
    return f"%{'' if column.right else '-'}{max(map(len, texts), default=0)}s"


def _painted(column: Column, form: str, texts: Sequence[str], style: Style) -> list[str]:
    aligned = [form % text for text in texts]
    plain = aligned[:1] if style.headers else []
    assert style.paint is not None, "there are colours"
    return [*plain, *(style.paint(column.name, text) for text in aligned[len(plain) :])]


def unknown_fields(fields: Sequence[dict[str, Any]]) -> list[str]:
    """The names that the server did not know."""
    return [field["name"] for field in fields if field["kind"] == UNKNOWN_KIND]
