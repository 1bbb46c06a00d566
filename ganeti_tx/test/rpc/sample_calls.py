"""A call of every kind, with arguments that fit its types and say nothing."""

import types
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from ganeti_tx.rpc.calls.base import NodeCall

PLAIN: dict[Any, object] = {str: "x", bytes: b"", int: 1, float: 0.0, bool: False, Any: None, type(None): None}


def sample(kind: type[NodeCall[object]]) -> NodeCall[object]:
    """A call with everything that it must have."""
    call: NodeCall[object] = sample_of(kind)
    return call


def sample_of(kind: Any) -> Any:
    """A value of a type."""
    if kind in PLAIN:
        return PLAIN[kind]
    if get_origin(kind) is Annotated:
        return sample_of(get_args(kind)[0])
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if type(None) in arguments else sample_of(arguments[0])
    if origin is Literal:
        return arguments[0]
    if origin is not None:
        return [] if origin in (list, tuple) else {}
    if issubclass(kind, Enum):
        return next(iter(kind))
    assert issubclass(kind, msgspec.Struct), kind
    hints = get_type_hints(kind)
    needed = [each.name for each in msgspec.structs.fields(kind) if each.required]
    return kind(**{name: sample_of(hints[name]) for name in needed})
