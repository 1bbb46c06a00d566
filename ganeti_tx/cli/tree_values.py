"""Nested values, as the info commands show them, to values for programs."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.cli.tree import Parameters, Part, Told, is_labelled

_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
#: The key of the parameters that the object has for itself, before that of those in force.
OWN = "own_"


def value_of(tree: Any) -> Any:
    """The value with lists and mappings of JSON: labels become keys, and what is told stands for itself."""
    if isinstance(tree, (Told, Part)):
        return value_of(tree.value)
    if isinstance(tree, Parameters):
        return {name: value_of(value) for name, value in tree}
    if is_labelled(tree):
        return dict(pair for label, value in tree for pair in _pairs(key_of(label), value))
    if isinstance(tree, Mapping):
        return {str(name): value_of(value) for name, value in tree.items()}
    return [value_of(element) for element in tree] if isinstance(tree, (list, tuple)) else tree


def _pairs(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield key, value_of(value)
    if isinstance(value, Parameters) and value.own is not None:
        yield OWN + key, dict(value.own)


def key_of(label: str) -> str:
    """A label in small letters with underscores between its words."""
    return _BETWEEN_WORDS.sub("_", label.lower()).strip("_")
