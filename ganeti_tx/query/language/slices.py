"""Work that may be long, done in slices, so that everybody else is heard meanwhile, and not without end.

The work comes as a generator that yields between its pieces. One slice is done at a time in the whole daemon: a hundred queries
at once hold the others up no longer than one does.
"""

import time
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

from attrs import define, field
from twisted.internet.defer import DeferredLock

from ganeti_tx.errors import QueryFilterParseError

T = TypeVar("T")
#: Work that can be left at each yield and be taken up again.
Work = Generator[None, None, T]

#: Seconds of one slice.
SLICE = 0.01
#: Seconds that the filter of one query may take together.
LIMIT = 2.0


def at_once(work: Work[T]) -> T:
    """What the work gives, done in one go."""
    try:
        while True:
            next(work)
    except StopIteration as end:
        result: T = end.value
        return result


async def no_rest() -> None:
    """Others need no turn."""


@define
class Budget:
    """The seconds that one query's filter has taken so far."""

    spent: float = 0.0

    def spend(self, seconds: float) -> None:
        """@raise QueryFilterParseError: that was too much."""
        self.spent += seconds
        if self.spent > LIMIT:
            raise QueryFilterParseError(
                f"the filter takes more than {LIMIT:g} seconds of computing; use fewer or simpler regular expressions, "
                "or ask for names"
            )


@define
class Slices:
    """Where the daemon's long work is done.

    @ivar rest: lets all others have their turn.
    @ivar worked: seconds that this thread has computed; waiting for others does not count.
    """

    rest: Callable[[], Awaitable[Any]] = no_rest
    worked: Callable[[], float] = time.thread_time
    _lock: DeferredLock = field(factory=DeferredLock, init=False)

    async def run(self, work: Work[T], budget: Budget | None = None) -> T:
        """What the work gives. @raise QueryFilterParseError: the budget is used up."""
        done: tuple[T] | None = None
        try:
            while done is None:
                await self._lock.acquire()
                try:
                    done = self._slice(work, budget)
                    if done is None or self._lock.waiting:
                        await self.rest()  # still in turn: the next one's slice comes after everybody else had a turn
                finally:
                    self._lock.release()
        finally:
            work.close()
        return done[0]

    def _slice(self, work: Work[T], budget: Budget | None) -> tuple[T] | None:
        """Some pieces of the work; what it gives, if that was all."""
        begun, spent = self.worked(), 0.0
        try:
            while spent < SLICE:
                next(work)
                spent = self.worked() - begun
        except StopIteration as end:
            return (end.value,)
        if budget is not None:
            budget.spend(spent)
        return None
