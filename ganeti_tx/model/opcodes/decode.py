"""Plain JSON objects to opcodes; every refusal names the parameter at fault."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from ganeti_tx.errors import ECode, OpCodeUnknown, OpPrereqError
from ganeti_tx.model.opcodes.addresses import AddressText
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.bounds import check_bounds
from ganeti_tx.model.opcodes.fault import describe_fault, short_json
from ganeti_tx.model.opcodes.private import Hidden
from ganeti_tx.model.opcodes.registry import OPCODES


def decode(raw: object, *, strict_wire: bool = False) -> OpCode:
    """The opcode that a JSON object describes.

    @param strict_wire: as the queue reads a submission: it demands some parameters, such as the reason, takes null for
        the default of those that cannot be null, and no text that is too long.
    @raise OpCodeUnknown: OP_ID names no opcode.
    @raise OpPrereqError: a parameter is unknown, missing, of the wrong type or too long (wrong_input).
    """
    kind, params = opcode_of(raw)
    for name in kind.wire_required if strict_wire else ():
        if name not in params:
            raise OpPrereqError(f"{kind.op_id()}: missing parameter '{name}'", ECode.INVAL)
    if strict_wire:
        check_bounds(kind.op_id(), params)
    current = kind.upgrade(params)
    if strict_wire:
        current = without_nulls(kind, current)
    try:
        return msgspec.convert(current, kind, dec_hook=make_custom)
    except msgspec.ValidationError as error:
        raise OpPrereqError(describe_fault(kind, current, error, check), ECode.INVAL) from None


def without_nulls(kind: type[OpCode], params: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters but those that are null and so have their default."""
    names = [name for name, value in params.items() if value is None and name in never_null(kind)]
    return {name: value for name, value in params.items() if name not in names} if names else params


@cache
def never_null(kind: type[OpCode]) -> frozenset[str]:
    """The parameters that have a default and cannot be null."""
    optional = [each for each in msgspec.structs.fields(kind) if not each.required]
    return frozenset(
        each.encode_name for each in optional if each.name not in kind.wire_required and not takes_null(each.type)
    )


def takes_null(kind: Any) -> bool:
    """Whether null is of a type."""
    try:
        check(None, kind)
    except msgspec.ValidationError:
        return False
    return True


def opcode_of(raw: object) -> tuple[type[OpCode], Mapping[str, Any]]:
    """The class that OP_ID names, and the object."""
    if not isinstance(raw, Mapping):
        raise OpPrereqError(f"an opcode is a JSON object, not {type(raw).__name__}", ECode.INVAL)
    op_id = raw.get("OP_ID")
    kind = OPCODES.get(op_id) if isinstance(op_id, str) else None
    if kind is None:
        raise OpCodeUnknown(f"unknown opcode: OP_ID is {short_json(op_id)}")
    return kind, raw


def make_custom(kind: type, value: Any) -> object:
    """The decoder's way to types that are ours."""
    if issubclass(kind, (Hidden, AddressText)):
        return kind(value)
    raise NotImplementedError(f"no opcode parameter is a {kind.__name__}")


def check(value: object, kind: Any) -> object:
    """Convert one parameter alone. @raise msgspec.ValidationError: it is not of that type."""
    return msgspec.convert(value, kind, dec_hook=make_custom)
