"""Types of arguments in words, for those who sent something else."""

from collections.abc import Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin


def word(kind: Any) -> str:
    """What a value of the type is; of an enumeration, what it may be."""
    inner = get_args(kind)
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return " or ".join(map(word, inner))
    if origin in (dict, Mapping):
        return f"map of {word(inner[0])} to {word(inner[1])}"
    if origin is Literal:
        return "one of " + ", ".join(map(str, inner))
    if origin is tuple and Ellipsis not in inner:
        return f"[{', '.join(map(word, inner))}]"
    if inner:
        return f"list of {word(inner[0])}"
    if kind is NoneType:
        return "null"
    if issubclass(kind, Enum):
        return "one of " + ", ".join(str(each.value) for each in kind)
    return str(kind.__name__)
