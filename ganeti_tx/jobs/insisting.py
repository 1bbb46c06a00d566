"""Taking back what is on nodes that cannot be reached for a moment: a node daemon that died is back within seconds."""

from collections.abc import Awaitable, Callable

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.interfaces import NodeUnreachableError

PAUSE = 2.0


@define
class Insisting:
    """Does undos of one job. @ivar limit: seconds for which nodes are tried again, all undos together."""

    take_back: Callable[[Undo], Awaitable[None]]
    clock: IReactorTime
    limit: float
    #: When that is over; it begins with the first node that is not reached.
    _until: float | None = None

    async def __call__(self, undo: Undo) -> None:
        """@raise GanetiError: it cannot be taken back, or its node was not reached in time."""
        while True:
            try:
                return await self.take_back(undo)
            except NodeUnreachableError:
                now = self.clock.seconds()
                if self._until is None:
                    self._until = now + self.limit
                if now >= self._until:
                    raise
            await deferLater(self.clock, PAUSE)
