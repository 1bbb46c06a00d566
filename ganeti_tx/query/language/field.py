"""A field that can be asked for: its definition as clients see it, and how its value is read off a row."""

from collections.abc import Callable, Sequence
from enum import Enum, StrEnum, auto
from operator import attrgetter
from typing import Any

from attrs import frozen

from ganeti_tx.query.language.cell import NORMAL, UNAVAILABLE, UNKNOWN, Cell

Getter = Callable[[Any], Any]
#: Gives the getter for one query; what is the same for all rows is worked out here, once.
Bind = Callable[[Any], Getter]


class Kind(StrEnum):
    """How clients show the value (Ganeti 3.0 query table, kinds)."""

    BOOL = "bool"
    FLOAT = "float"
    NUMBER = "number"
    OTHER = "other"
    TEXT = "text"
    TIMESTAMP = "timestamp"
    UNIT = "unit"
    UNKNOWN = "unknown"


class Gives(Enum):
    """What a getter returns."""

    VALUE = auto()
    """A value that every item has."""
    MAYBE = auto()
    """A value, or None where the item has none."""
    CELL = auto()
    """A cell, status and all."""


class Match(Enum):
    """How a filter's C{==} compares."""

    EXACT = auto()
    HOSTNAME = auto()
    """By leading components of the name."""
    TIMESTAMP = auto()
    """The seconds of [seconds, microseconds]."""


class Need(Enum):
    """What nodes must be asked for, or files be read for, before a field has values."""

    INSTANCES = auto()
    CONSOLES = auto()
    NODES = auto()
    SPINDLES = auto()
    JOBS = auto()
    """What memory may have of a job."""
    JOB_FILES = auto()
    """All that is in a job's file."""


class Missing(Enum):
    """Stands for a value that an item does not have, or that is not known yet."""

    MISSING = auto()
    NOT_YET = auto()


MISSING, NOT_YET = Missing.MISSING, Missing.NOT_YET


@frozen
class Field:
    """One field. `bind` takes the query's context (each resource has its own kind) and gives the getter for rows.

    `of_all` gives the cells of many rows where that is faster than one after the other.
    """

    name: str
    title: str
    kind: Kind
    doc: str
    bind: Bind
    gives: Gives = Gives.VALUE
    match: Match = Match.EXACT
    needs: frozenset[Need] = frozenset()
    of_all: Callable[[Any, Sequence[Any]], list[Cell]] | None = None

    @property
    def live(self) -> bool:
        """Whether nodes must be asked, or files be read."""
        return bool(self.needs)

    def definition(self) -> dict[str, str]:
        """The field as clients see it."""
        return {"name": self.name, "title": self.title, "kind": self.kind.value, "doc": self.doc}

    def column(self, context: Any, rows: Sequence[Any]) -> list[Cell]:
        """The field's cell of every row."""
        if self.of_all is not None:
            return self.of_all(context, rows)
        get = self.bind(context)
        if self.gives is Gives.VALUE:
            return [(NORMAL, get(row)) for row in rows]
        if self.gives is Gives.CELL:
            return [get(row) for row in rows]
        return [(NORMAL, value) if (value := get(row)) is not None else UNAVAILABLE for row in rows]

    def reader(self, context: Any) -> Getter:
        """A function from a row to the value, or MISSING."""
        get = self.bind(context)
        if self.gives is Gives.VALUE:
            return get
        if self.gives is Gives.CELL:
            return lambda row: cell[1] if (cell := get(row))[0] == NORMAL else MISSING
        return lambda row: value if (value := get(row)) is not None else MISSING


def stored(name: str, title: str, kind: Kind, doc: str, path: str = "", **more: Any) -> Field:
    """A field that is an attribute of the row; `path` is the attribute's name where it is not the field's."""
    get = attrgetter(path or name)
    return Field(name, title, kind, doc, lambda context: get, **more)


def maybe(name: str, title: str, kind: Kind, doc: str, path: str = "", **more: Any) -> Field:
    """As `stored`, for an attribute that may be None."""
    return stored(name, title, kind, doc, path, gives=Gives.MAYBE, **more)


def computed(name: str, title: str, kind: Kind, doc: str, get: Getter, **more: Any) -> Field:
    """A field that is worked out from the row alone."""
    return Field(name, title, kind, doc, lambda context: get, **more)


def unknown(name: str) -> Field:
    """What stands in for a name that no field has."""
    return Field(name, name, Kind.UNKNOWN, f"Unknown field '{name}'", lambda context: lambda row: UNKNOWN, Gives.CELL)


def tracking() -> list[Field]:
    """The fields of everything that counts its changes."""
    return [
        stored("ctime", "CTime", Kind.TIMESTAMP, "Creation timestamp"),
        stored("mtime", "MTime", Kind.TIMESTAMP, "Modification timestamp"),
        stored("serial_no", "SerialNo", Kind.NUMBER, "Number of changes made to the object"),
        stored("uuid", "UUID", Kind.TEXT, "Unique identifier"),
        stored("tags", "Tags", Kind.OTHER, "Tags"),
    ]


def by_name(*groups: Sequence[Field]) -> dict[str, Field]:
    """Fields by their names."""
    return {field.name: field for group in groups for field in group}
