"""One collector at work: on its interval, never twice at once, within a limit; its last report is kept."""

from collections.abc import Callable
from typing import Any

from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred, TimeoutError, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.errors import GanetiError, one_line
from ganeti_tx.mond.envelope import Report, report
from ganeti_tx.mond.interfaces import ICollector
from ganeti_tx.runtime.files_errors import reason

log = Logger()

#: Seconds that one look may take; a longer interval gives no more.
LIMIT = 20.0


class CollectorFailed(Exception):
    """A collector's last look gave no report; the text says why."""


@define(eq=False)
class Run:
    """A collector on its interval. @ivar now: nanoseconds since the epoch."""

    collector: ICollector
    clock: IReactorTime
    now: Callable[[], int]
    limit: float = LIMIT
    failures: int = field(default=0, init=False)
    seconds: float = field(default=0.0, init=False)  # how long the last look took
    _interval: float | None = field(default=None, init=False)
    _loop: LoopingCall | None = field(default=None, init=False)
    _looking: "Deferred[Any] | None" = field(default=None, init=False)
    _last: Report | CollectorFailed | None = field(default=None, init=False)
    _waiting: "list[Deferred[None]]" = field(factory=list, init=False)

    def every(self, interval: float) -> None:
        """Look now and then every `interval` seconds; nothing changes when that is so already."""
        if interval != self._interval:
            first = self._loop is None
            self._stop_loop()
            self._interval = interval
            self._loop = LoopingCall(self._look)
            self._loop.clock = self.clock
            self._loop.start(interval, now=first).addErrback(self._broken)

    def stop(self) -> None:
        """Look no more, end a look under way, and forget the last report; who waits for one is told."""
        self._stop_loop()
        if self._looking is not None:
            self._looking.cancel()
        self._last = None
        self._tell()

    @property
    def last(self) -> Report | None:
        """The last look's report; None when it failed or was never made."""
        return self._last if isinstance(self._last, Report) else None

    async def report(self) -> Report:
        """The last look's report, or the first one's once it is made. @raise CollectorFailed: that look failed."""
        if self._last is None and self._loop is not None:
            waiting: Deferred[None] = Deferred(lambda left: self._waiting.remove(left))
            self._waiting.append(waiting)
            await waiting
        if self._last is None:
            raise CollectorFailed(f"collector {self.collector.name} was switched off")
        if isinstance(self._last, CollectorFailed):
            raise CollectorFailed(str(self._last))
        return self._last

    def _stop_loop(self) -> None:
        if self._loop is not None:
            self._loop.stop()
        self._loop = self._interval = None

    def _look(self) -> "Deferred[None]":
        if self._looking is not None:  # under way since before the interval was changed
            return succeed(None)
        started = self.clock.seconds()
        looking: Deferred[Any] = Deferred.fromCoroutine(self.collector.collect())
        self._looking = looking
        looking.addTimeout(self.limit, self.clock)

        def ended(_: Any) -> None:
            self._looking = None
            self.seconds = self.clock.seconds() - started
            self._tell()

        return looking.addCallbacks(self._keep, self._fail).addBoth(ended)

    def _keep(self, data: Any) -> None:
        self._last = report(self.collector, data, self.now())

    def _fail(self, failure: Failure) -> None:
        if failure.check(CancelledError):
            return
        text = self._why(failure)
        self.failures += 1
        if not isinstance(self._last, CollectorFailed) or str(self._last) != text:
            log.warn("{text}", text=text)
        self._last = CollectorFailed(text)

    def _why(self, failure: Failure) -> str:
        name, error = self.collector.name, failure.value
        if failure.check(TimeoutError):
            return f"collector {name} took more than {self.limit:g} seconds"
        if isinstance(error, GanetiError):
            return f"collector {name}: {one_line(error)}"
        if isinstance(error, OSError):
            return f"collector {name}: {reason(error)}"
        log.failure("collector {name} broke", failure, name=name)
        return f"collector {name} broke; the monitoring daemon's log has more"

    def _tell(self) -> None:
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            each.callback(None)

    def _broken(self, failure: Failure) -> None:
        log.failure("the looks of a collector ended", failure)
