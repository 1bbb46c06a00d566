"""Nested values as indented text, as the info commands show them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

Labelled = Sequence[tuple[str, Any]]
#: Control characters but for those that texts of several lines have.
_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_ENDS_OF_CELLS = re.compile(r"[\t\n]")


class Told(str):
    """A text that tells people a value which programs get as it is."""

    value: Any

    def __new__(cls, text: str, value: Any) -> Self:
        """@param value: with types of JSON, or another part of a tree."""
        told = super().__new__(cls, text)
        told.value = value
        return told


class Part(list[Any]):
    """A part of a tree that programs get as another value."""

    def __init__(self, pairs: Iterable[Any], value: Any) -> None:
        super().__init__(pairs)
        self.value = value


class Parameters(list[tuple[str, Any]]):
    """Parameters in force by their names, which programs get as they are, also when there are none.

    @ivar own: those that the object has for itself; programs get them once more, besides.
    """

    def __init__(self, pairs: Iterable[tuple[str, Any]], own: Mapping[str, Any] | None = None) -> None:
        super().__init__(pairs)
        self.own = own


def tree_lines(value: Any, indent: str = "") -> Iterator[str]:
    """Lines of a nested value: a list of (label, value) pairs keeps its order, a mapping is sorted, in a list each
    element starts with a dash; two spaces a level.
    """
    if is_labelled(value) or isinstance(value, Mapping):
        pairs = sorted(value.items()) if isinstance(value, Mapping) else value
        for label, inner in pairs:
            yield from _pair_lines(label, inner, indent)
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from _element_lines(element, indent)
    else:
        yield f"{indent}{leaf(value)}"


def _pair_lines(label: str, value: Any, indent: str) -> Iterator[str]:
    """A space follows every colon, also where nothing else does, as in Ganeti's own output."""
    if _is_leaf(value):
        yield f"{indent}{label}: {leaf(value)}"
        return
    yield f"{indent}{label}: "
    yield from tree_lines(value, indent + "  ")


def _element_lines(value: Any, indent: str) -> Iterator[str]:
    if _is_leaf(value):
        yield f"{indent}- {leaf(value)}"
        return
    first = True
    for line in tree_lines(value, indent + "  "):
        yield f"{indent}- {line[len(indent) + 2 :]}" if first else line
        first = False


def _is_leaf(value: Any) -> bool:
    return not isinstance(value, (Mapping, list, tuple)) or not value


def is_labelled(value: Any) -> bool:
    """Whether it is a list of (label, value) pairs, of which JSON has none."""
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(each, tuple) for each in value)


def leaf(value: Any) -> str:
    """One value as Python prints it, on one line, a whole number without a fraction; what holds nothing is an empty text."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if isinstance(value, (Mapping, list, tuple)) and not value else harmless(str(value)).replace("\n", "\\n")


def harmless(text: str) -> str:
    """The text without what would command a terminal: reasons, tags and messages may be anybody's."""
    return text if text.isprintable() else _COMMANDS.sub(_as_written, text)


def in_cell(text: str) -> str:
    """Harmless, and within one line and one column of a table."""
    return text if text.isprintable() else _ENDS_OF_CELLS.sub(_as_written, harmless(text))


def _as_written(found: re.Match[str]) -> str:
    """As Python writes it."""
    return repr(found[0])[1:-1]
