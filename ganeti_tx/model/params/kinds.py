"""What all parameter kinds share: a struct declares names, types, defaults; here values are converted and layered."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UnsetType
from msgspec.structs import asdict, fields

from ganeti_tx.errors import ParameterError, TypeEnforcementError
from ganeti_tx.model.base import Params
from ganeti_tx.model.sizes import parse_size

#: Mebibytes, exact as a number; as text it is what `sizes.parse_size` reads.
Size = Annotated[int, "size"]
#: As a value: take the override away.
DEFAULT = "default"
#: As a value, where a parameter may be null: null.
NONE = "none"

TRUE_WORDS = frozenset({"true", "yes", "on", "1", "y"})
FALSE_WORDS = frozenset({"false", "no", "off", "0", "n"})
INTEGER = re.compile(r"[+-]?[0-9]{1,19}")

P = TypeVar("P", bound=msgspec.Struct)
V = TypeVar("V")


@cache
def types_of(kind: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The declared type of each parameter, by its name on the wire; of one that may be unset, that of a value."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.encode_name: _of_a_value(hints[field.name]) for field in fields(kind)}


def _of_a_value(declared: Any) -> Any:
    parts = get_args(declared)
    return next(part for part in parts if part is not UnsetType) if UnsetType in parts else declared


@cache
def defaults_of(kind: type[msgspec.Struct]) -> Params:
    """The built-in value of each parameter, by its name on the wire; some are not there unless they are set."""
    names = {field.name: field.encode_name for field in fields(kind)}
    return {names[name]: value for name, value in asdict(kind()).items() if value is not msgspec.UNSET}


def fill(kind: type[msgspec.Struct], *layers: Mapping[str, object]) -> dict[str, object]:
    """All parameters: the built-in ones under the given layers, the last of which counts most."""
    filled = dict(defaults_of(kind))
    for layer in layers:
        filled.update(layer)
    return filled


def typed(kind: type[P], params: Mapping[str, object], path: str) -> P:
    """Parameters as a struct. @raise ParameterError: a value or name does not fit, with its path."""
    try:
        return msgspec.convert(dict(params), kind)
    except msgspec.ValidationError as error:
        raise ParameterError(f"{path}: {error}") from None


def check(kind: type[msgspec.Struct], given: Mapping[str, object], path: str) -> dict[str, object]:
    """The given values in their declared types; C{"default"} is left as it is, for `updated` to act on.

    @raise ParameterError: a name is unknown. @raise TypeEnforcementError: a value does not fit the declared type.
    """
    types = types_of(kind)
    checked: dict[str, object] = {}
    for name, value in given.items():
        if name not in types:
            raise ParameterError(f"{path}.{name}: unknown parameter, allowed are {', '.join(sorted(types)) or 'none'}")
        checked[name] = DEFAULT if value == DEFAULT else forced(name, types[name], value, path)
    return checked


def check_complete(kind: type[msgspec.Struct], given: Mapping[str, object], path: str) -> dict[str, object]:
    """As `check`, and every parameter must be there. @raise ParameterError: one is missing."""
    checked = check(kind, given, path)
    for name in types_of(kind):
        if name not in checked:
            raise ParameterError(f"{path}.{name}: missing")
    return {name: defaults_of(kind)[name] if value == DEFAULT else value for name, value in checked.items()}


def refuse_global(names: Iterable[str], only: frozenset[str], path: str) -> None:
    """@raise ParameterError: one of the names may be set for the whole cluster only."""
    for name in names:
        if name in only:
            raise ParameterError(f"{path}.{name}: may be set for the cluster only")


def updated(stored: Mapping[str, object], change: Mapping[str, object]) -> dict[str, object]:
    """Stored overrides with checked changes put in; C{"default"} takes an override away."""
    merged = {**stored, **change}
    return {name: value for name, value in merged.items() if change.get(name) != DEFAULT}


def difference(params: Mapping[str, V], base: Mapping[str, object]) -> dict[str, V]:
    """What of the parameters is not as in the base: all that need be stored."""
    return {name: value for name, value in params.items() if name not in base or base[name] != value}


def forced(name: str, declared: Any, value: object, path: str) -> object:
    """A value, maybe text from a command line, in its declared type. @raise TypeEnforcementError: it does not fit."""
    if get_origin(declared) is not Annotated and NoneType in get_args(declared):
        if value is None or value == NONE:
            return None
        declared = next(part for part in get_args(declared) if part is not NoneType)
    word, convert = CONVERSIONS[declared]
    result = convert(value)
    if result is None:
        raise TypeEnforcementError(f"{path}.{name}: invalid value {value!r} for {word} parameter {name}")
    return result


def to_bool(value: object) -> bool | None:
    """True or false of a bool or a word; None when it is neither."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None


def to_int(value: object) -> int | None:
    """A whole number of a number or text; None when it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value) if INTEGER.fullmatch(value.strip()) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def to_float(value: object) -> float | None:
    """A finite number of a number or text; None when it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) != float("inf") and number == number else None


def to_size(value: object) -> int | None:
    """MiB: a number as it is, or what a text says; None when it is none or negative."""
    if isinstance(value, str):
        return parse_size(value)
    number = to_int(value)
    return number if number is not None and number >= 0 else None


def to_text(value: object) -> str | None:
    """Text; False is the empty text, as command lines say C{no_name} for it."""
    return value if isinstance(value, str) else "" if value is False else None


CONVERSIONS: Mapping[Any, tuple[str, Any]] = {
    bool: ("bool", to_bool),
    int: ("int", to_int),
    float: ("float", to_float),
    Size: ("size", to_size),
    str: ("string", to_text),
}
