"""Values of options that several commands read further: lists of words, numbers, user ids, parameters by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.parsing import UsageError
from ganeti_tx.cli.values import InvalidValue, is_natural, parse_int, split_escaped


def split_words(text: str | None) -> list[str] | None:
    """Words between commas."""
    return None if text is None else [word for word in split_escaped(text) if word]


def number(flag: str, text: str | None) -> int | None:
    """A whole number. @raise UsageError: it is none."""
    try:
        return None if text is None else parse_int(text)
    except InvalidValue as error:
        raise UsageError(f"option {flag}: {error}") from None


def uid_ranges(flag: str, text: str | None) -> list[list[int]] | None:
    """`1000-1005,2000` to pairs. @raise UsageError: something else."""
    if text is None:
        return None
    return [_uid_range(flag, part.strip()) for part in text.split(",") if part.strip()]


def _uid_range(flag: str, text: str) -> list[int]:
    low, dash, high = text.partition("-")
    if not is_natural(low.strip()) or (dash and not is_natural(high.strip())):
        raise UsageError(f"option {flag}: invalid range {text!r}: give UID or LOW-HIGH, comma separated")
    return [int(low), int(high or low)]


def by_ident(flag: str, given: Sequence[tuple[str, Any]], table: Mapping[str, str], what: str) -> dict[str, Any]:
    """NAME:KEY=VALUE,... to parameters by name. @raise UsageError: a name without parameters."""
    found: dict[str, dict[str, Any]] = {}
    for ident, settings in given:
        if not isinstance(settings, dict):
            raise UsageError(f"option {flag}: give {ident}:KEY=VALUE,...")
        found.setdefault(ident, {}).update(types.typed(settings, table, what, closed=False))
    return found


def by_place(flag: str, given: Sequence[tuple[str, Any]], what: str) -> dict[str, Any]:
    """TYPE/NAME:KEY=VALUE,... to parameters by type and name, TYPE:KEY=VALUE,... to those of a type. @raise UsageError: none."""
    found: dict[str, dict[str, Any]] = {}
    for ident, params in by_ident(flag, given, {}, what).items():
        kind, mark, name = ident.partition("/")
        found.setdefault(kind, {}).update({name: params} if mark else params)
    return found
