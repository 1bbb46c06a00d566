"""Parameter values that must not be seen: they pass through logs and tracebacks without showing themselves."""

from collections.abc import Iterable, Mapping
from typing import Any

REDACTED = "<redacted>"


class Hidden:
    """A value that no text form shows; C{reveal} is the one way to it."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def reveal(self) -> Any:
        """The value itself, for the one who hands it to the OS scripts."""
        return self._value

    def __repr__(self) -> str:
        return REDACTED

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Hidden) and other._value == self._value


class Private(Hidden):
    """May be kept in the configuration and in job files; never in logs and answers to queries."""


class Secret(Hidden):
    """Lives in memory only: no file holds it."""


def reveal(values: Mapping[str, Hidden] | None) -> dict[str, Any]:
    """The plain parameters behind hidden ones; none at all is an empty set of them."""
    return {} if values is None else {name: value.reveal() for name, value in values.items()}


def without_values(text: str, values: Iterable[object]) -> str:
    """What somebody has said who knows the values, with a mark in the place of each; longer ones first."""
    for value in sorted({str(value) for value in values} - {""}, key=len, reverse=True):
        text = text.replace(value, REDACTED)
    return text
