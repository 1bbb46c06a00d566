"""A reactor that measures time by a clock which nobody sets.

Twisted's own goes by the time of the day: when that is set back by an hour, nothing that is to be done later is done for
an hour.
"""

import time
from typing import Any, cast

from twisted.internet.interfaces import IReactorTime

from ganeti_tx.runtime.reactors import IDaemonReactor


def steady(reactor: IReactorTime) -> IDaemonReactor:
    """The same reactor, before anything is to be done later; `seconds` are no more those since the epoch."""
    untyped: Any = reactor
    untyped.seconds = time.monotonic
    return cast(IDaemonReactor, reactor)
