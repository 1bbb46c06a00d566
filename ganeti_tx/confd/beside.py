"""Work in a thread that keeps requests waiting as little as Python lets it."""

import gc
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds for which one thread may hold the interpreter while another wants it. Python's own 5 ms would be waited for at
#: each of the three system calls that a request takes.
SHORT_SWITCH_INTERVAL = 0.0002


def switch_threads_often() -> None:
    """For the whole process."""
    sys.setswitchinterval(SHORT_SWITCH_INTERVAL)


def without_collection(work: Callable[P, T]) -> Callable[P, T]:
    """The same for work that makes many objects which are then kept: they are never looked through for garbage.

    A configuration has no circles, so it is freed without the collector, whose passes would stop all threads.
    """

    def working(*args: P.args, **kwargs: P.kwargs) -> T:
        gc.collect()
        gc.disable()
        try:
            return work(*args, **kwargs)
        finally:
            gc.freeze()
            gc.enable()

    return working
