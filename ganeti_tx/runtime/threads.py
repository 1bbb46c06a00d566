"""Blocking calls kept away from the reactor."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from attrs import frozen
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.interfaces import IReactorFromThreads, IReactorThreads
from twisted.python.failure import Failure
from twisted.python.threadpool import ThreadPool
from zope.interface import Interface, implementer

P = ParamSpec("P")
T = TypeVar("T")


class IThreads(Interface):
    """Where a call that may block runs."""

    def run(func: Callable[..., T], *args: object) -> Deferred[T]:
        """What `func(*args)` returns or raises.

        The call cannot be taken back: cancelling the Deferred frees only the caller, the call runs to its end.
        """


@implementer(IThreads)
@frozen
class ReactorThreads:
    """Runs each call in the pool; answers that come after the reactor has stopped are dropped."""

    reactor: IReactorFromThreads
    pool: ThreadPool

    def run(self, func: Callable[..., T], *args: object) -> Deferred[T]:
        """See `IThreads`."""
        answered: Deferred[T] = Deferred()

        def answer(result: T | Failure) -> None:
            if not answered.called:  # else it was cancelled
                answered.callback(result)  # a Failure takes the error path by itself

        def from_thread(_succeeded: bool, result: T | Failure) -> None:
            self.reactor.callFromThread(answer, result)

        self.pool.callInThreadWithCallback(from_thread, func, *args)
        return answered


def reactor_threads(reactor: IReactorThreads) -> ReactorThreads:
    """Threads of the reactor's own pool."""
    return ReactorThreads(reactor, reactor.getThreadPool())


@implementer(IThreads)
class InlineThreads:
    """Runs each call at once and in place: for programs without a reactor, and for tests."""

    def run(self, func: Callable[..., T], *args: object) -> Deferred[T]:
        """See `IThreads`."""
        return maybeDeferred(func, *args)
