"""Work that goes on to its end, although whoever waits for it may stop waiting."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.errors import GanetiError

log = Logger()

T = TypeVar("T")


def to_its_end(work: Coroutine[Any, Any, T]) -> "Deferred[T]":
    """What the work gives or raises; cancelling frees only the caller.

    An error that nobody waits for any more is logged, unless it is a refusal, which is nobody else's business.
    """
    answer: Deferred[T] = Deferred()

    def done(result: T | Failure) -> None:
        if not answer.called:
            answer.callback(result)  # a Failure takes the error path by itself
        elif isinstance(result, Failure) and not result.check(GanetiError, OSError):
            log.failure("what nobody waits for any more failed", result)

    Deferred.fromCoroutine(work).addBoth(done)
    return answer
