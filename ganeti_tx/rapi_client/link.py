"""What a conversation needs of its connection."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Link(NamedTuple):
    """What is done to a connection, safe to do when it is gone; and its clock, which returns what has a cancel()."""

    write: Callable[[bytes], None]
    abort: Callable[[], None]
    #: Read no more until `resume`.
    pause: Callable[[], None]
    resume: Callable[[], None]
    call_later: Callable[[float, Callable[[], None]], Any]
    #: Whether the connection can be used where this is called; on asyncio that is in one loop only.
    here: Callable[[], bool]
