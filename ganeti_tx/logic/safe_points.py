"""Where a running opcode may be stopped, and what it had done until then."""

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred

T = TypeVar("T")


@define
class SafePoints:
    """The safe points of one opcode: before each node call and each change of the configuration, and in waits.

    A stop is delivered once, as CancelledError, which units let through as they do any error; what they then do to leave
    nothing half done is not disturbed, nor are the undo steps of a Rollback.

    @ivar done: what was done until the stop, in its order; `undone`: what was done from then on, to take it back.
    @ivar stopped_at: the point at which the stop was delivered.
    @ivar only_looks: whether the opcode changes nothing yet.
    @ivar config_changed: whether it has changed the configuration.
    """

    done: list[str] = field(factory=list)
    undone: list[str] = field(factory=list)
    stopped_at: str | None = None
    only_looks: bool = False
    config_changed: bool = False
    _wanted: bool = False
    _shields: int = 0
    _waits: "list[Deferred[Any]]" = field(factory=list)

    def stop(self) -> None:
        """Stop at the next safe point; at once in a wait."""
        self._wanted = True
        if self._due:
            waits, self._waits = self._waits, []
            for wait in waits:
                wait.cancel()

    @property
    def _due(self) -> bool:
        return self._wanted and self.stopped_at is None and not self._shields

    def reach(self, what: str) -> None:
        """A safe point; `what` says what would come next. @raise CancelledError: it shall not."""
        if self._due:
            self.stopped_at = what
            raise CancelledError

    def record(self, what: str) -> None:
        """Something was done that may have changed something."""
        if self.only_looks:
            return
        stopping = self._shields or self.stopped_at is not None
        (self.undone if stopping else self.done).append(what)

    async def wait(self, what: str, work: "Awaitable[T]") -> T:
        """Wait for something that does no harm when it is abandoned. @raise CancelledError: it was."""
        self.reach(what)
        waiting: Deferred[T] = Deferred.fromCoroutine(_awaited(work))
        if self._shields or self.stopped_at is not None:
            return await waiting
        self._waits.append(waiting)
        try:
            result = await waiting
        finally:
            self._end_wait(waiting, what)
        return result

    def _end_wait(self, waiting: "Deferred[Any]", what: str) -> None:
        """@raise CancelledError: it was given up; whoever was asked may have made some answer of that."""
        if waiting in self._waits:
            self._waits.remove(waiting)
        else:
            self.stopped_at = self.stopped_at or what
            raise CancelledError

    @property
    def shielded(self) -> bool:
        """Whether what happens now runs to its end."""
        return self._shields > 0

    @contextmanager
    def shield(self) -> Iterator[None]:
        """What happens inside runs to its end."""
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1


async def _awaited(work: "Awaitable[T]") -> T:
    return await work
