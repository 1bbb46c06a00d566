"""Where an event stands: "EPOCH-NUMBER". Numbers count from 1 without a hole; each master daemon begins an epoch."""

from typing import NamedTuple

#: Characters; ours are much shorter.
MAX_ID = 100


class EventId(NamedTuple):
    """A place in the order of events: that of one event, or the end of what had happened at some time."""

    epoch: str
    number: int

    def __str__(self) -> str:
        return f"{self.epoch}-{self.number}"


def read_id(text: str) -> EventId | None:
    """The id in its text; None for what is none."""
    epoch, dash, number = text.rpartition("-")
    if len(text) > MAX_ID or not (epoch and dash and number.isascii() and number.isdigit()):
        return None
    return EventId(epoch, int(number))
