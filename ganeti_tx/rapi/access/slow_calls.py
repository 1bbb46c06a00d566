"""Slow calls in threads, a few at once and a few waiting, so that those who ask cannot take the machine."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

from attrs import define, field
from twisted.internet.defer import Deferred, DeferredSemaphore
from twisted.python.failure import Failure

from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.runtime.threads import IThreads

T = TypeVar("T")

#: Seconds after which somebody who found no place may try again.
BUSY_RETRY = 2


@define(kw_only=True)
class SlowCalls:
    """Runs at most `at_once` calls in threads, and lets at most `waiting` more wait for their turn."""

    threads: IThreads
    at_once: int
    waiting: int
    _slots: DeferredSemaphore = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._slots = DeferredSemaphore(self.at_once)

    def run(self, func: Callable[..., T], *args: object) -> Deferred[T]:
        """What `func(*args)` returns or raises.

        Cancelling frees only the caller: a call that runs keeps its place until it has ended.
        @raise HttpError: 503, too many wait already.
        """
        if self._slots.tokens == 0 and len(self._slots.waiting) >= self.waiting:
            raise HttpError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Too many logins are being checked; try again soon",
                {"Retry-After": str(BUSY_RETRY)},
            )
        answered: Deferred[T] = Deferred()

        def answer(result: T | Failure) -> None:
            if not answered.called:  # else it was cancelled
                answered.callback(result)

        running: Deferred[T] = self._slots.run(self.threads.run, func, *args)
        running.addBoth(answer)
        return answered
