"""A connection that is sent no more than its client takes.

Twisted answers all requests that came in one go, however little of the answers is read, and goes on reading requests while
one waits to be answered on a full connection. Some bytes of requests could make thousands of times as many lie in memory.
"""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.node.channels import NodeChannel

#: Seconds that a client may take for what it asked for.
LIMIT = 60.0


class DrainedChannel(NodeChannel):
    """Knows whether its client has more to read than the transport likes to keep."""

    _full = False
    _drained: "Deferred[None] | None" = None

    async def drained(self, clock: IReactorTime) -> None:
        """Return when the client has read enough; for one request at a time. @raise TimeoutError: it does not."""
        if self._full:
            self._drained = Deferred()
            await self._drained.addTimeout(LIMIT, clock)

    def pauseProducing(self) -> None:
        """The client does not read: what it sends is not read either."""
        self._full = True
        super().pauseProducing()
        transport: Any = self.transport
        transport.pauseProducing()

    def resumeProducing(self) -> None:
        """The client has read."""
        self._full = False
        super().resumeProducing()
        drained, self._drained = self._drained, None
        if drained is not None and not drained.called:
            drained.callback(None)
