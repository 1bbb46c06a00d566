"""Interrupts from the terminal, where something must not be left half done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_back() -> Iterator[list[int]]:
    """Interrupts only land in the list meanwhile; programs that are run get their own, and may end by them."""
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # where none arrive
        yield seen
        return
    before = signal.signal(signal.SIGINT, lambda number, _frame: seen.append(number))
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
