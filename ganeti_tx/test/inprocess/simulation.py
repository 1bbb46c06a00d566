"""Simulated time, and simulated processes that can die between two moments of it."""

from collections.abc import Awaitable, Callable, Sequence
from heapq import heappop, heappush, heapreplace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define, field
from twisted.internet.base import DelayedCall
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall
from twisted.internet.protocol import ClientFactory
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.runtime.reactors import ISocketReactor

if TYPE_CHECKING:
    from ganeti_tx.test.inprocess.sockets import Connector, Sockets, Stream

T = TypeVar("T")

#: The moment at which every simulation begins, in seconds since the epoch.
BEGINNING = 1_700_000_000.0
#: For so long the machines have been up by then.
UPTIME = 5000.0

#: What the dead had still to do. Were it collected, Python would close their coroutines and so run their clean-up, which
#: no killed process does.
_uncollected: list[Any] = []


class Stalled(AssertionError):
    """Nothing more will happen, or not within the limit, and what was waited for has not happened."""


class SimulatedTime(Clock):
    """Time that passes only when somebody waits, from one thing to do to the next.

    One thing done is a turn. Whatever goes on in a process is cut into turns at the moments at which it waits for time,
    for a disk or for another process; so between two turns is where it can be interrupted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rightNow = BEGINNING
        self.turns = 0
        self._agenda: list[tuple[float, int, DelayedCall]] = []
        self._entries = count()

    def callLater(self, delay: float, callable: Callable[..., object], *args: object, **kwargs: object) -> DelayedCall:
        """See IReactorTime. What is due at the same moment is done in the order in which it was asked for."""
        call = DelayedCall(self.rightNow + delay, callable, args, kwargs, _nothing, self._enter, self.seconds)
        self._enter(call)
        return call

    def getDelayedCalls(self) -> Sequence[IDelayedCall]:
        """See IReactorTime."""
        return [call for _, _, call in sorted(self._agenda, key=lambda entry: entry[:2]) if call.active()]

    def put_off(self, func: Callable[..., object], until: float) -> None:
        """Whatever calls this function is not done earlier; what comes meanwhile is done after it."""
        for _, _, call in sorted(self._agenda, key=lambda entry: entry[:2]):
            if call.active() and call.func == func and call.getTime() < until:
                call.reset(until - self.rightNow)
                self._enter(call)

    def _enter(self, call: DelayedCall) -> None:
        heappush(self._agenda, (call.getTime(), next(self._entries), call))

    def next_moment(self) -> float | None:
        """When something is to be done next, if anything."""
        while self._agenda:
            at, _, call = self._agenda[0]
            if not call.active():
                heappop(self._agenda)
            elif call.getTime() > at:  # it was put off
                heapreplace(self._agenda, (call.getTime(), next(self._entries), call))
            else:
                return at
        return None

    def transit(self, seconds: float) -> float:
        """How long something really takes that takes about so long: a disk, a wire, a fork."""
        return seconds

    def cut(self, data: bytes) -> list[bytes]:
        """The pieces in which bytes travel."""
        return [data]

    def step(self) -> bool:
        """Go to the next moment at which there is something to do, and do one thing; false when there is nothing."""
        at = self.next_moment()
        if at is None:
            return False
        self.rightNow = max(self.rightNow, at)
        call = heappop(self._agenda)[2]
        call.called = 1
        self.turns += 1
        call.func(*call.args, **call.kw)
        return True

    def advance(self, amount: float) -> None:
        """See Clock."""
        self.pass_time(amount)

    def pass_time(self, seconds: float) -> None:
        """Let everything happen that happens within so many seconds."""
        end = self.rightNow + seconds
        while (at := self.next_moment()) is not None and at <= end:
            self.step()
        self.rightNow = max(self.rightNow, end)

    def run(self, work: Awaitable[T], limit: float) -> T:
        """What the work gives or raises. @raise Stalled: it has not ended after so many seconds."""
        return self.run_deferred(Deferred.fromCoroutine(_awaited(work)), limit)

    def run_deferred(self, work: "Deferred[T]", limit: float) -> T:
        """The same for what is under way already."""
        results: list[Any] = []
        work.addBoth(results.append)
        end = self.rightNow + limit
        while not results:
            at = self.next_moment()
            if at is None or at > end:
                work.addErrback(lambda _: None)
                work.cancel()
                raise Stalled(f"not ended after {limit:g} simulated seconds")
            self.step()
        if isinstance(results[0], Failure):
            results[0].raiseException()
        return results[0]


def _nothing(call: DelayedCall) -> None:
    """A call that was cancelled is passed over when its moment comes."""


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


@implementer(ISocketReactor)
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
    stalled_until: float = 0.0
    about_to: "Callable[[Process, Callable[..., Any]], None] | None" = None

    def seconds(self) -> float:
        """See IReactorTime."""
        return self.time.seconds() - BEGINNING + UPTIME

    def callLater(self, delay: float, callable: Callable[..., Any], *args: object, **kwargs: object) -> Any:
        """See IReactorTime."""
        if not self.alive:
            _uncollected.append((callable, args, kwargs))
            return Never()
        return self.time.callLater(
            max(delay, self.stalled_until - self.time.rightNow), self._do, callable, args, kwargs
        )

    def arrive(self, delay: float, callable: Callable[..., Any], *args: object) -> Any:
        """As `callLater`, for what comes from outside the process: it takes as long as it takes."""
        return self.callLater(self.time.transit(delay), callable, *args)

    def takes(self, seconds: float) -> "Deferred[None]":
        """Fires when a disk or another machine is done with what takes about so long."""
        done: Deferred[None] = Deferred()
        self.arrive(seconds, self._done, done)
        return done

    def _done(self, done: "Deferred[None]") -> None:
        if not done.called:
            done.callback(None)

    def _do(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self.alive:
            _uncollected.append((func, args, kwargs))
        else:
            if self.about_to is not None:
                self.about_to(self, func)
            func(*args, **kwargs)

    def stall(self, seconds: float) -> None:
        """Do nothing for a while, as a process that is stopped or swapped out; what is put off can still be cancelled."""
        self.stalled_until = max(self.stalled_until, self.time.rightNow + seconds)
        self.time.put_off(self._do, self.stalled_until)

    def getDelayedCalls(self) -> Sequence[IDelayedCall]:
        """See IReactorTime."""
        return self.time.getDelayedCalls()

    def connectUNIX(
        self, address: str, factory: ClientFactory, timeout: float = 30, checkPID: bool = False
    ) -> "Connector":
        """See IReactorUNIX."""
        return self.sockets.connect(self, address, factory)

    def listenUNIX(self, address: str, factory: Any, backlog: int = 0, mode: int = 0, wantPID: bool = False) -> Any:
        """As IReactorUNIX, without modes, lock files and limits."""
        return self.sockets.listen(self, address, factory)

    def die(self) -> None:
        """As by SIGKILL."""
        if self.alive:
            self.alive = False
            self.sockets.process_died(self)
            _uncollected.append(self)
