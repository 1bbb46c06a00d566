"""Text of the command line to values: sizes, key=value lists, yes and no (Ganeti 3.0 command line table, types)."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

from ganeti_tx.model import sizes
from ganeti_tx.model.nearest import did_you_mean

KeyValues = dict[str, Any]
Identified = tuple[str, Any]

#: Patterns are compiled when first used: most commands need none.
_ESCAPED = r"(?s)\\(.)"
_MAX_DIGITS = 18
_MAX_SHOWN = 40
_FILTER_ACTIONS = ("ACCEPT", "CONTINUE", "PAUSE", "REJECT")
_RATE_LIMIT = "RATE_LIMIT"
_TRUE = ("yes", "true")
_FALSE = ("no", "false")


class InvalidValue(ValueError):
    """A value of the command line cannot be read; the text holds the value and what is allowed."""


def is_natural(text: str) -> bool:
    """Whether a text is a number of digits only, and few enough to be meant."""
    return text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS


def parse_size(text: str) -> int:
    """Mebibytes, rounded up to a multiple of 4."""
    mebibytes = sizes.parse_size(text)
    if mebibytes is None:
        shown = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
        raise InvalidValue(f"invalid size {shown!r}: give {sizes.WANTED}")
    return mebibytes


def parse_bool(text: str) -> bool:
    """Yes or no, in any case."""
    lowered = text.strip().lower()
    if lowered in _TRUE:
        return True
    if lowered in _FALSE:
        return False
    raise InvalidValue(f"invalid value {text!r}: give yes or no")


def parse_int(text: str) -> int:
    """A decimal integer."""
    try:
        return int(text)
    except ValueError:  # no digits, or thousands of them
        raise InvalidValue(f"invalid number {text!r}: give an integer") from None


def parse_float(text: str) -> float:
    """A decimal number, neither infinite nor none."""
    try:
        number = float(text)
    except ValueError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidValue(f"invalid number {text!r}")
    return number


def parse_float_or_default(text: str) -> float | str:
    """A number, or the word "default" as it is."""
    return text if text == "default" else parse_float(text)


def parse_json(text: str) -> Any:
    """Any JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidValue(f"invalid JSON {text!r}: {error}") from None


def parse_filter_action(text: str) -> str | list[Any]:
    """What a job filter rule does; with RATE_LIMIT stands a number from 1."""
    word, _space, number = text.strip().partition(" ")
    if not number and word in _FILTER_ACTIONS:
        return word
    number = number.strip()
    if word == _RATE_LIMIT and is_natural(number) and int(number) > 0:
        return [_RATE_LIMIT, int(number)]
    question = did_you_mean(word.upper(), (*_FILTER_ACTIONS, _RATE_LIMIT))
    raise InvalidValue(
        f"invalid action {text!r}: give {', '.join(_FILTER_ACTIONS)} or '{_RATE_LIMIT} N', N from 1"
        + (f" ({question})" if question else "")
    )


def split_escaped(text: str, separator: str = ",") -> list[str]:
    """Split at each separator that no backslash escapes; an empty text has no parts."""
    if not text:
        return []
    parts = [""]
    for piece in re.findall(r"\\.|[^\\]|\\$", text, re.DOTALL):
        if piece == separator:
            parts.append("")
        else:
            parts[-1] += piece
    return [re.sub(_ESCAPED, r"\1", part) for part in parts]


def parse_list(text: str) -> list[str]:
    """Comma separated words."""
    return split_escaped(text)


def parse_key_values(text: str) -> KeyValues:
    """`KEY=VALUE,...`; a bare KEY is true, no_KEY false, -KEY null."""
    found: KeyValues = {}
    for part in split_escaped(text):
        key, value = _key_value(part)
        if not key:
            raise InvalidValue(f"invalid parameter {part!r} in {text!r}: give KEY=VALUE, KEY, no_KEY or -KEY")
        if key in found:
            raise InvalidValue(f"duplicate key {key!r} in {text!r}")
        found[key] = value
    return found


def _key_value(part: str) -> tuple[str, Any]:
    key, equals, value = part.partition("=")
    if equals:
        return key, value
    if part.startswith("no_"):
        return part.removeprefix("no_"), False
    if part.startswith("-"):
        return part.removeprefix("-"), None
    return part, True


def parse_identified(text: str) -> Identified:
    """`IDENT:KEY=VALUE,...`; no_IDENT gives false and -IDENT null in place of the dictionary."""
    ident, colon, rest = text.partition(":")
    for prefix, value in (("no_", False), ("-", None)):
        if ident.startswith(prefix) and not _negative_number(ident):
            if rest:
                raise InvalidValue(f"invalid value {text!r}: {ident!r} removes, it takes no parameters")
            return ident.removeprefix(prefix), value
    if not ident:
        raise InvalidValue(f"invalid value {text!r}: give IDENT:KEY=VALUE,...")
    return ident, parse_key_values(rest) if colon else {}


def _negative_number(ident: str) -> bool:
    return ident[:1] == "-" and ident[1:2].isdigit()


def parse_identified_lists(text: str) -> list[dict[str, KeyValues]]:
    """`IDENT:KEY=VALUE,.../IDENT:...//...`: a list, cut at //, of dictionaries, cut at /."""
    return [dict(parse_identified(entry) for entry in group.split("/")) for group in text.split("//")]


#: By the type names of the command line table; "string" and "choice" stay text.
READERS: dict[str, Callable[[str], Any]] = {
    "bool": parse_bool,
    "filteraction": parse_filter_action,
    "float": parse_float,
    "identkeyval": parse_identified,
    "int": parse_int,
    "json": parse_json,
    "keyprivateval": parse_key_values,
    "keyval": parse_key_values,
    "list": parse_list,
    "maybefloat": parse_float_or_default,
    "multilistidentkeyval": parse_identified_lists,
    "unit": parse_size,
}
