"""Simulated time, and simulated processes that can die between two moments of it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.protocol import ClientFactory
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from zope.interface import implementer

if TYPE_CHECKING:
    from ganeti_tx.test.inprocess.sockets import Connector, Listening, Sockets, Stream

T = TypeVar("T")

#: The moment at which every simulation begins, in seconds since the epoch.
BEGINNING = 1_700_000_000.0

#: What the dead had still to do. Were it collected, Python would close their coroutines and so run their clean-up, which
#: no killed process does.
_buried: list[Any] = []


class Stalled(AssertionError):
    """Nothing more will happen, or not within the limit, and what was waited for has not happened."""


class SimulatedTime(Clock):
    """Time that passes only when somebody waits, from one thing to do to the next."""

    def __init__(self) -> None:
        super().__init__()
        self.rightNow = BEGINNING

    def step(self) -> bool:
        """Go to the next moment at which there is something to do, and do it; false when there is nothing."""
        if not self.calls:
            return False
        self.rightNow = max(self.rightNow, self.calls[0].getTime())
        self.advance(0)
        return True

    def pass_time(self, seconds: float) -> None:
        """Let everything happen that happens within so many seconds."""
        end = self.seconds() + seconds
        while self.calls and self.calls[0].getTime() <= end:
            self.step()
        self.rightNow = end

    def run(self, work: Awaitable[T], limit: float) -> T:
        """What the work gives or raises. @raise Stalled: it has not ended after so many seconds."""
        return self.run_deferred(Deferred.fromCoroutine(_awaited(work)), limit)

    def run_deferred(self, work: "Deferred[T]", limit: float) -> T:
        """The same for what is under way already."""
        results: list[Any] = []
        work.addBoth(results.append)
        end = self.seconds() + limit
        while not results:
            if not self.calls or self.calls[0].getTime() > end:
                work.addErrback(lambda _: None)
                work.cancel()
                raise Stalled(f"not ended after {limit:g} simulated seconds")
            self.step()
        if isinstance(results[0], Failure):
            results[0].raiseException()
        return results[0]


async def _awaited(work: Awaitable[T]) -> T:
    return await work


class Never:
    """What a dead process was going to do later."""

    def active(self) -> bool:
        """It will not happen."""
        return False

    def cancel(self) -> None:
        """It will not happen anyway."""

    def reset(self, seconds: float) -> None:
        """It will not happen then either."""

    def delay(self, seconds: float) -> None:
        """It will not happen later either."""


@implementer(IReactorTime)
@define(eq=False)
class Process:
    """The reactor of one simulated process: its share of time, and its unix sockets.

    Everything that goes on in a process goes on through its `callLater`; so a process that has died does nothing more,
    at whatever point it was, and others see its connections break.
    """

    name: str
    time: SimulatedTime
    sockets: "Sockets"
    alive: bool = True
    streams: "list[Stream]" = field(factory=list)

    def seconds(self) -> float:
        """See IReactorTime."""
        return self.time.seconds()

    def callLater(self, delay: float, callable: Callable[..., Any], *args: object, **kwargs: object) -> Any:
        """See IReactorTime."""
        if not self.alive:
            _buried.append((callable, args, kwargs))
            return Never()
        return self.time.callLater(delay, self._do, callable, args, kwargs)

    def _do(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.alive:
            func(*args, **kwargs)
        else:
            _buried.append((func, args, kwargs))

    def getDelayedCalls(self) -> Sequence[IDelayedCall]:
        """See IReactorTime."""
        return self.time.getDelayedCalls()

    def connectUNIX(
        self, address: str, factory: ClientFactory, timeout: float = 30, checkPID: bool = False
    ) -> "Connector":
        """See IReactorUNIX."""
        return self.sockets.connect(self, address, factory)

    def listenUNIX(self, address: str, factory: Any) -> "Listening":
        """As IReactorUNIX, without modes and lock files."""
        return self.sockets.listen(self, address, factory)

    def die(self) -> None:
        """As by SIGKILL."""
        if self.alive:
            self.alive = False
            self.sockets.process_died(self)
            _buried.append(self)
