"""What out-of-band programs print, in its types (reference: oob.json, commands)."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import msgspec

from ganeti_tx.model.opcodes.types import OobCommand

#: How much of a text that cannot be read is shown.
SHOWN = 200
HEALTH = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
WORRYING = ("WARNING", "CRITICAL")
POWERED = "powered"

#: One value of the opcode's result: a status, and the value if it is `NORMAL`.
Cell = tuple[int, Any]


class CellStatus(IntEnum):
    """Whether there is a value, as in the answers of queries."""

    NORMAL = 0
    NO_DATA = 2
    UNAVAILABLE = 3


class Unreadable(Exception):
    """A program printed something else than it should."""


def read(command: OobCommand, printed: str) -> Any:
    """The data of a command; None for those of which nothing is expected. @raise Unreadable: it is not as it must be."""
    if command is OobCommand.POWER_STATUS:
        return _power(_decoded(printed))
    return _health(_decoded(printed)) if command is OobCommand.HEALTH else None


def _decoded(printed: str) -> Any:
    try:
        return msgspec.json.decode(printed)
    except (msgspec.DecodeError, RecursionError):
        raise Unreadable(f"it printed no JSON but {printed[:SHOWN]!r}") from None


def _power(found: Any) -> dict[str, bool | None]:
    """On (True), off (False), or not known (None)."""
    if not isinstance(found, dict) or not isinstance(found.get(POWERED), bool | None):
        raise Unreadable(f"it printed {str(found)[:SHOWN]}; wanted was an object with the key {POWERED}: true or false")
    return {POWERED: found.get(POWERED)}


def _health(found: Any) -> list[tuple[str, str]]:
    if not isinstance(found, list) or not all(map(_is_item, found)):
        raise Unreadable(
            f"it printed {str(found)[:SHOWN]}; wanted was a list of pairs of a word and one of {', '.join(HEALTH)}"
        )
    return [(item, status) for item, status in found]


def _is_item(each: Any) -> bool:
    return isinstance(each, Sequence) and len(each) == 2 and isinstance(each[0], str) and each[1] in HEALTH
