"""The stored form of an opcode as anyone may see it, without reading more of it than may be secret."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.decode import make_custom
from ganeti_tx.model.opcodes.encode import ENCODERS, Disclosure
from ganeti_tx.model.opcodes.fault import field_type, hides
from ganeti_tx.model.opcodes.registry import OPCODES


def masked(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """All parameters, with those masked that may be secret; of an opcode that nobody knows, its OP_ID alone."""
    op_id = stored.get("OP_ID")
    kind = OPCODES.get(op_id) if isinstance(op_id, str) else None
    if kind is None:
        return {"OP_ID": op_id}
    types = hiding(kind)
    hidden = {name: shown_to_anyone(stored[name], types[name]) for name in types.keys() & stored.keys()}
    return {**stored, **hidden} if hidden else stored


@cache
def hiding(kind: type[OpCode]) -> Mapping[str, Any]:
    """The types of the parameters of which not everybody may see all."""
    types = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    return {name: type_ for name, type_ in types.items() if hides(field_type(kind, [name]))}


def shown_to_anyone(value: Any, type_: Any) -> Any:
    """One parameter; null if it is none, as where it has its secrets is not known then."""
    try:
        hidden = msgspec.convert(value, type_, dec_hook=make_custom)
    except msgspec.ValidationError:
        return None
    return msgspec.json.decode(ENCODERS[Disclosure.PUBLIC].encode(hidden))
