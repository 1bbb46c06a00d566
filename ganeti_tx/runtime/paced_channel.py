"""An HTTP connection on which requests are read no faster than their answers are.

Twisted answers all requests that came in one go, however little of the answers is read, and goes on reading requests while
it has one in hand on a full connection. Some bytes of requests could make thousands of times as many lie in memory.
"""

from typing import Any

from twisted.web.http import HTTPChannel


class PacedChannel(HTTPChannel):
    """Begins no request, and reads none, while its client has more to read than the transport likes to keep."""

    _networkProducer: Any

    def setLineMode(self, extra: bytes = b"") -> None:
        """A request was answered: what came behind it, and before what waits since the pause, is read next."""
        super().setLineMode(extra + self.clearLineBuffer())

    def pauseProducing(self) -> None:
        """The client does not read: what it sends is not read either."""
        super().pauseProducing()
        self.paused = True
        self._networkProducer.pauseProducing()

    def resumeProducing(self) -> None:
        """The client has read."""
        self.paused = False
        super().resumeProducing()
        if sum(map(len, self._dataBuffer)) <= self._optimisticEagerReadSize:
            self._networkProducer.resumeProducing()  # even with a request in hand: a client may be gone
        if self._buffer:
            self.dataReceived(b"")
