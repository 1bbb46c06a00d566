"""What the Remote API counts of itself."""

from collections.abc import Sized
from typing import Protocol

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.metrics.rapi import CONNECTIONS, NO_RESOURCE, REQUESTS, SECONDS, STREAMS
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.runtime.own_process import OwnProcess
from ganeti_tx.runtime.threads import InlineThreads, IThreads

DAEMON = "ganeti-rapi"


class MeasuredOperation(Protocol):
    """What was asked for: an `Operation`."""

    @property
    def resource(self) -> str: ...

    @property
    def method(self) -> str: ...


@define(eq=False)
class Measures:
    """Kept by this daemon, and shown with what luxid tells; `threads` write pages, of which those of large clusters are long."""

    clock: IReactorTime
    connections: Sized = ()
    threads: IThreads = field(factory=InlineThreads)
    tally: Tally = field(factory=Tally)
    process: OwnProcess = field(init=False)
    _streams: int = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self.process = OwnProcess(DAEMON, self.tally, self.clock)

    def answered(self, asked: MeasuredOperation | None, status: int, begun: float) -> None:
        """A request that had come whole at a time of the clock has its answer; None asked for what is not there.

        Names are those of operations only, so that the series are few whatever clients send.
        """
        resource, method = (NO_RESOURCE, NO_RESOURCE) if asked is None else (asked.resource, asked.method)
        self.tally.count(REQUESTS, resource, method, str(status))
        self.tally.observe(SECONDS, self.clock.seconds() - begun, resource, method)

    def stream_begins(self) -> None:
        """An answer begins that goes on as long as somebody reads it."""
        self._streams += 1

    def stream_ends(self) -> None:
        """It has ended."""
        self._streams -= 1

    def readings(self) -> Readings:
        """As of now."""
        self.tally.set(CONNECTIONS, len(self.connections))
        self.tally.set(STREAMS, self._streams)
        self.process.record()
        return self.tally.readings()
