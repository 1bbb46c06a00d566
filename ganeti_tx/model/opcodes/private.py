"""Parameter values that must not be seen: they pass through logs and tracebacks without showing themselves."""

from collections.abc import Iterable, Mapping
from typing import Any

REDACTED = "<redacted>"
#: Characters of the shortest text that is hidden. In the place of each "1" or "no" a mark would hide nothing: it would stand all
#: over the text, and tell by that what it hides.
SHORTEST = 4


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


def hidden_texts(values: Iterable[object]) -> list[str]:
    """What must not be seen of some values, longer ones first: each, and each of its lines, as a program may print only some."""
    texts = [str(value).strip() for value in values if value is not None]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return sorted({text for text in (*texts, *lines) if len(text) >= SHORTEST}, key=lambda text: (-len(text), text))


def without_values(text: str, values: Iterable[object]) -> str:
    """What somebody has said who knows the values, with a mark in the place of each.

    The text must be whole: of a value that was cut off, the rest would stay.
    """
    for hidden in hidden_texts(values):
        text = text.replace(hidden, REDACTED)
    return text
