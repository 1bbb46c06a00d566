"""What events take of memory."""

import tracemalloc
from collections.abc import Callable

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxid.events.log import EventLog
from ganeti_tx.model.event_id import EventId
from ganeti_tx.model.events import Kind, LogEvent
from ganeti_tx.rapi.events.event_window import EventWindow

BOUND = 500_000
#: Many names, each short: their strings take more than their text.
MANY_NAMES = 50


def wide_event(number: int) -> LogEvent:
    """A message of an opcode about many instances."""
    about = tuple((Kind.INSTANCE, f"w{number}-{index}") for index in range(MANY_NAMES))
    return LogEvent(time=1.0, job=number, index=0, serial=number, type="message", text="done", about=about)


def held_by(fill: Callable[[], object]) -> int:
    """How many bytes of memory stay taken by what something gives."""
    tracemalloc.start()
    try:
        kept = fill()
        held, _ = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
    return held


class RoomTests(SynchronousTestCase):
    """Bounds in bytes are meant as bytes of memory."""

    def test_log(self) -> None:
        """luxid's log is no larger than it may be, however many names its events have."""

        def fill() -> EventLog:
            log = EventLog("e", max_bytes=BOUND)
            for number in range(300):
                log.append(wide_event(number))
            self.assertGreater(log.first, 1)
            return log

        self.assertLess(held_by(fill), BOUND * 1.2)

    def test_window(self) -> None:
        """Nor is the window of the Remote API."""
        events = [msgspec.json.encode(wide_event(number)) for number in range(300)]

        def fill() -> EventWindow:
            window = EventWindow(most_bytes=BOUND)
            window.begin(EventId("e", 0))
            for number, event in enumerate(events, 1):
                window.append(EventId("e", number), msgspec.json.decode(event))
            self.assertGreater(window.first, 0)
            return window

        self.assertLess(held_by(fill), BOUND * 1.2)
