"""What all configuration objects share: how presence on the wire is declared, and how a change is marked.

Presence follows from the default of a field:

- no default: the key must be there and is always written;
- `= None` or `= False`: the key is left out when unset;
- `default_factory=dict` (the builtin): the key is left out when empty;
- one of the functions below as `default_factory`: the key may be absent on read and is always written.
"""

from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec.structs import fields, replace

#: Parameters as they are stored and sent: only those set, by name.
Params = Mapping[str, object]


class Wire(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A value that crosses a wire or a disk: unknown keys are refused, unset ones left out."""


class Tracked(Wire, frozen=True, kw_only=True):
    """An object that counts its changes."""

    serial_no: int
    ctime: float = msgspec.field(default_factory=lambda: 0.0)
    mtime: float = msgspec.field(default_factory=lambda: 0.0)


T = TypeVar("T", bound=Tracked)


def no_params() -> Params:
    """The default of a mapping that is written even when empty."""
    return {}


def no_words() -> Mapping[str, str]:
    """As `no_params`, for mappings of text."""
    return {}


def nothing() -> tuple[()]:
    """The default of a list that is written even when empty."""
    return ()


def no_text() -> str:
    """The default of a string that is written even when empty."""
    return ""


def touched(changed: T, now: float) -> T:
    """The object with its serial number raised and its modification time (seconds since the epoch) set."""
    return replace(changed, serial_no=changed.serial_no + 1, mtime=now)


def repr_without(value: msgspec.Struct, hidden: frozenset[str]) -> str:
    """A repr that names the hidden fields but does not show what they hold: secrets stay out of logs."""
    shown = (
        f"{field.name}=<hidden>" if field.name in hidden else f"{field.name}={getattr(value, field.name)!r}"
        for field in fields(value)
    )
    return f"{type(value).__name__}({', '.join(shown)})"
