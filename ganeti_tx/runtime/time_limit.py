"""Waiting for something only so long, while it goes on."""

from typing import TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.python.failure import Failure

T = TypeVar("T")


def within(seconds: float, clock: IReactorTime, waited: "Deferred[T]") -> "Deferred[T | None]":
    """Fires with the outcome of `waited`, or with None when it takes longer; nobody else may wait for it."""
    heard: Deferred[T | None] = Deferred()

    def tell(outcome: T | Failure | None) -> None:
        if limit.active():
            limit.cancel()
        if not heard.called:
            heard.callback(outcome)

    limit = clock.callLater(seconds, tell, None)
    waited.addBoth(tell)
    return heard
