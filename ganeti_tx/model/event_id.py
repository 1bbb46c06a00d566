"""Where an event stands: "EPOCH-NUMBER". Numbers count from 1 without a hole; each master daemon begins an epoch."""

import re
from typing import NamedTuple

#: Characters; ours are much shorter.
MAX_ID = 100
#: An epoch is one word, as a stream repeats it in a line of its own.
ID = re.compile(r"([0-9A-Za-z.]+)-([0-9]+)", re.ASCII)


class EventId(NamedTuple):
    """A place in the order of events: that of one event, or the end of what had happened at some time."""

    epoch: str
    number: int

    def __str__(self) -> str:
        return f"{self.epoch}-{self.number}"


def read_id(text: str) -> EventId | None:
    """The id in its text; None for what is none."""
    if len(text) > MAX_ID or (found := ID.fullmatch(text)) is None:
        return None
    return EventId(found[1], int(found[2]))
