"""JSON pointers (RFC 6901) into a configuration."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.config_data import ConfigData

#: A tilde stands only before 0 (itself) or 1 (a slash).
BAD_ESCAPE = re.compile(r"~(?![01])")
INDEX = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)


def resolve(config: ConfigData, pointer: str) -> Any:
    """The value at a place. @raise ParameterError: no pointer, or nothing is there."""
    value: Any = config
    for step in steps_of(pointer):
        value = inner(value, step, pointer)
    return value


def steps_of(pointer: str) -> list[str]:
    """The names and indexes on the way. @raise ParameterError: no pointer."""
    if pointer and not pointer.startswith("/"):
        raise ParameterError(f"not a JSON pointer: {pointer!r} does not begin with a slash")
    if BAD_ESCAPE.search(pointer):
        raise ParameterError(f"not a JSON pointer: {pointer!r} has a tilde that is not ~0 or ~1")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def inner(value: Any, step: str, pointer: str) -> Any:
    """One step down. The containers of the configuration are not copied on the way, what they hold is small."""
    if isinstance(value, ConfigData):
        if step in value.__struct_fields__:
            return getattr(value, step)
    else:
        plain = value if isinstance(value, Mapping) else msgspec.to_builtins(value)
        if isinstance(plain, Mapping) and step in plain:
            return plain[step]
        if isinstance(plain, list | tuple) and INDEX.fullmatch(step) and int(step) < len(plain):
            return plain[int(step)]
    raise ParameterError(f"nothing is at {pointer!r}: no {step!r}")
