"""IConfig over the WConfD protocol."""

from typing import Any, TypeVar

import attrs
import msgspec

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.operation import Effect, Operation
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.wconfd.protocol.link import Link

T = TypeVar("T")


@attrs.define(eq=False)
class RemoteConfig(IConfig):
    """One owner's configuration: every operation is a request; one that waits has a connection of its own."""

    _link: Link
    _owner: Owner
    _may_have_reserved: bool = False

    async def perform(self, operation: Operation[..., T], arguments: tuple[Any, ...]) -> T:
        """See Operations; who never asked for anything and changed nothing has nothing to give back, and does not say so."""
        if operation.effect is Effect.GIVEN_BACK and not self._may_have_reserved:
            return msgspec.convert(None, operation.result)
        if operation.effect in (Effect.RESERVED, Effect.CHANGED):  # a change keeps the minors and ports that it frees
            self._may_have_reserved = True
        if operation.waits:
            return await self._link.wait(operation, self._owner, lambda passed: arguments)
        answer = await self._link.ask(operation, self._owner, *arguments)
        if operation.effect is Effect.GIVEN_BACK:
            self._may_have_reserved = False
        return answer
