"""What the metadata daemon is told on its socket, with LUXI's frames and messages."""

from typing import Any

import msgspec

from ganeti_tx.luxi.daemon import Daemon
from ganeti_tx.luxi.limits import MIB, Limits
from ganeti_tx.luxi.method_table import Method, MethodTable, Param
from ganeti_tx.luxi.shapes import Shape, ShapeError
from ganeti_tx.model.guest_facts import GuestFacts

DAEMON = Daemon("the metadata daemon (ganeti-metad)")
#: Scripts of an OS and its parameters, with room for how they are written.
LIMITS = Limits(request=16 * MIB, requests_size=64 * MIB, connections=32)


def _text(value: object) -> object:
    if not isinstance(value, str):
        raise ShapeError("not a text")
    return value


def _facts(value: object) -> object:
    try:
        return msgspec.convert(value, GuestFacts)
    except msgspec.ValidationError:
        raise ShapeError("not the facts of an instance") from None  # no word of what is in them


def sent(facts: GuestFacts) -> Any:
    """Facts as they are sent."""
    return msgspec.to_builtins(facts)


ECHO, UPDATE, FORGET, READ, WRITE = "Echo", "Update", "Forget", "Read", "Write"
_NAME = Param("name of an instance", Shape("a text", _text))
METHODS = MethodTable(
    [
        Method(ECHO, (Param("text", Shape("a text", _text)),)),
        Method(UPDATE, (Param("instance", Shape("the facts of an instance", _facts)),)),
        Method(FORGET, (_NAME,)),
        Method(READ, (_NAME,)),
        Method(WRITE, (_NAME, Param("text", Shape("a text", _text)))),
    ]
)
