"""Opcodes to plain JSON objects, with what must not be seen shown to nobody who may not see it."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any

import msgspec

from ganeti_tx.model.opcodes.addresses import AddressText
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.fault import field_type, hides
from ganeti_tx.model.opcodes.private import REDACTED, Hidden, Private, Secret

ALWAYS_PRESENT = frozenset({"depends", "comment"})


class Disclosure(StrEnum):
    """Who is going to read: anyone, the queue's own files, or the daemon that runs the opcode."""

    PUBLIC = "public"
    STORED = "stored"
    WIRE = "wire"


def written_for(disclosure: Disclosure) -> Callable[[Any], object]:
    """What the encoder writes for values of our own types."""

    def hook(value: Any) -> object:
        match value:
            case Hidden():
                return shown(value, disclosure)
            case AddressText():
                return str(value)
        raise NotImplementedError(f"an opcode cannot hold a {type(value).__name__}")

    return hook


def shown(value: Hidden, disclosure: Disclosure) -> object:
    """The value for those who may see it; otherwise null for a private and a mark for a secret one."""
    match value:
        case Private():
            return None if disclosure is Disclosure.PUBLIC else value.reveal()
        case Secret():
            return value.reveal() if disclosure is Disclosure.WIRE else REDACTED
    raise NotImplementedError(f"neither private nor secret: {type(value).__name__}")


ENCODERS = {
    disclosure: msgspec.json.Encoder(enc_hook=written_for(disclosure), order="deterministic")
    for disclosure in Disclosure
}


def encode(op: OpCode, disclosure: Disclosure = Disclosure.PUBLIC) -> dict[str, Any]:
    """The JSON object of an opcode: defaults filled in, null parameters left out, save depends and comment."""
    flat: dict[str, Any] = msgspec.json.decode(ENCODERS[disclosure].encode(op))
    return {
        name: value
        for name, value in flat.items()
        if value is not None or name in ALWAYS_PRESENT or name in op.wire_required
    }


def stored_size(op: OpCode) -> int:
    """Bytes that the opcode takes in a file, about."""
    return len(ENCODERS[Disclosure.STORED].encode(op))


def encode_as_sent(op: OpCode, sent: Mapping[str, Any], disclosure: Disclosure) -> dict[str, Any]:
    """The same, with each parameter in the spelling in which it was sent: several may stand for one meaning.

    @param sent: the JSON object that the opcode was read from; what is null there may have a default.
    """
    fixed = not_as_sent(type(op))
    return {
        name: value if sent.get(name) is None or name in fixed else sent[name]
        for name, value in encode(op, disclosure).items()
    }


@cache
def not_as_sent(kind: type[OpCode]) -> frozenset[str]:
    """What is never taken over: which opcode it is, and the parameters of which not everybody may see all."""
    return frozenset({"OP_ID"}) | frozenset(name for name in kind.__struct_fields__ if hides(field_type(kind, [name])))
