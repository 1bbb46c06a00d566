"""A reactor that measures time by a clock which nobody sets.

Twisted's own goes by the time of the day: when that is set back by an hour, nothing that is to be done later is done for
an hour.
"""

import time
from typing import Any


def steady(reactor: Any) -> Any:
    """The same reactor, before anything is to be done later; `seconds` are no more those since the epoch."""
    reactor.seconds = time.monotonic
    return reactor
