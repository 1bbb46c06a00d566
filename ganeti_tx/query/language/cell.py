"""One value of an answer with its status (Ganeti 3.0 query table, result_status)."""

from typing import Final

#: A status and a value; the value is None unless the status is NORMAL.
Cell = tuple[int, object]

NORMAL: Final = 0

#: The field is not one that the server knows.
UNKNOWN: Final[Cell] = (1, None)
#: The value should be there, but whom to ask did not answer.
NO_DATA: Final[Cell] = (2, None)
#: This item has no such value.
UNAVAILABLE: Final[Cell] = (3, None)
#: Whom to ask is marked offline.
OFFLINE: Final[Cell] = (4, None)
