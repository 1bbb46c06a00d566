"""The server's end of the WConfD protocol: each method is an operation of the configuration or one of the daemon's own."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.operation import Effect
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.wconfd.protocol.methods import CONFIG_OPERATIONS
from ganeti_tx.wconfd.protocol.own_calls import OWN_CALLS
from ganeti_tx.wconfd.protocol.own_methods import KEEP_LIMIT, OwnMethods

#: The effects that a restart must find, and for how many seconds their writing is waited for; None: without end.
KEPT: Mapping[Effect, float | None] = {Effect.RESERVED: KEEP_LIMIT, Effect.GIVEN_BACK: None}


@attrs.frozen(eq=False)
class WconfDispatch:
    """Answers requests. `saved` waits, for so many seconds or without end, until reservations are where a restart finds them."""

    _config: Callable[[Owner], IConfig]
    _own: OwnMethods
    _saved: Callable[[float | None], Awaitable[None]]

    async def __call__(self, method: str, args: list[Any], peer: Peer | None) -> object:
        """The result of a request whose arguments have been checked. @raise GanetiError: it was refused."""
        owner = Owner(*args[0])
        operation = CONFIG_OPERATIONS.get(method)
        if operation is None:
            return await OWN_CALLS[method].method(self._own, owner, *args[1:])
        result = await self._config(owner).perform(operation, tuple(args[1:]))
        await self._keep_reserved(operation.effect)
        return result

    async def _keep_reserved(self, effect: Effect) -> None:
        """@raise ConfigurationError: it cannot be written down; what was reserved is so until its owner ends."""
        if effect not in KEPT:
            return
        try:
            await self._saved(KEPT[effect])
        except OSError as error:
            raise ConfigurationError(f"nothing can be reserved: cannot write {reason(error)}") from None
