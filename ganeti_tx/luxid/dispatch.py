"""From a LUXI method to the one call that answers it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.errors import ECode, GanetiError, GenericError, OpPrereqError
from ganeti_tx.luxi.method_table import Effect
from ganeti_tx.luxi.own_methods import ALL_METHODS
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.runtime.files_errors import reason

log = Logger()

Answer = Callable[..., Awaitable[Any]]
T = TypeVar("T")


class LuxiDispatch:
    """Every method that this daemon answers; the others of LUXI's table get a proper error."""

    def __init__(self, *tables: Mapping[str, Answer]) -> None:
        self._answers = {name: answer for table in tables for name, answer in table.items()}

    async def __call__(self, method: str, args: list[Any], peer: Peer | None) -> Any:
        """The method's result. The arguments have been checked against LUXI's table."""
        answer = self._answers.get(method)
        if answer is None:
            available = ", ".join(sorted(self._answers))
            raise OpPrereqError(f"{method} is not available in this version; available are {available}", ECode.INVAL)
        work = answer(*args)
        changes = ALL_METHODS[method].effect is Effect.CHANGES  # the others may be broken off anywhere
        try:
            return await (to_its_end(method, work) if changes else work)
        except OSError as error:  # the disk's; its text says what can be done
            raise GenericError(f"{method}: {reason(error)}") from None


def to_its_end(method: str, work: Awaitable[T]) -> "Deferred[T]":
    """What the work gives. Who stops waiting does not stop it: a change half made helps nobody."""
    waiting: Deferred[T] = Deferred()

    def over(result: T | Failure) -> None:
        if not waiting.called:
            waiting.callback(result)  # a Failure takes the error path by itself
        elif isinstance(result, Failure) and not result.check(GanetiError, OSError):
            log.failure("{method} broke after its client had gone", result, method=method)
        elif isinstance(result, Failure):
            log.warn("{method} failed after its client had gone: {why}", method=method, why=result.getErrorMessage())

    Deferred.fromCoroutine(awaited(work)).addBoth(over)
    return waiting


async def awaited(work: Awaitable[T]) -> T:
    """As a coroutine."""
    return await work
