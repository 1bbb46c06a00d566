"""Taking back what is on nodes that cannot be reached for a moment: a node daemon that died is back within seconds."""

from typing import Protocol

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.model.undo import NodeUndo, Undo
from ganeti_tx.rpc.interfaces import NodeUnreachableError

PAUSE = 2.0


class ITakingBack(Protocol):
    """Does one undo, or has another node do it (`taking_back.TakingBack`)."""

    async def __call__(self, undo: Undo) -> None: ...
    async def elsewhere(self, undo: Undo) -> bool: ...


@define
class Insisting:
    """Does undos of one job. A node that did not answer in all that time is not asked for anything else.

    @ivar limit: seconds for which nodes are tried again, all undos together.
    """

    take_back: ITakingBack
    clock: IReactorTime
    limit: float
    #: When that is over; it begins with the first node that is not reached.
    _until: float | None = None
    #: Why nodes could not be reached that have been given up, by their names.
    _given_up: dict[str, NodeUnreachableError] = field(factory=dict)

    async def __call__(self, undo: Undo) -> None:
        """@raise GanetiError: it cannot be taken back, or its node was not reached in time."""
        name = undo.node if isinstance(undo, NodeUndo) else ""
        if (fault := self._given_up.get(name)) is not None:
            if not await self.take_back.elsewhere(undo):
                raise fault
            return
        while True:
            try:
                return await self.take_back(undo)
            except NodeUnreachableError as error:
                now = self.clock.seconds()
                if self._until is None:
                    self._until = now + self.limit
                if now >= self._until:
                    self._given_up[name] = error
                    raise
            await deferLater(self.clock, PAUSE)
