"""LUXI for many requests at a time: what waits long has a connection of its own, so that nothing waits behind it."""

from collections.abc import Callable
from typing import Any

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.luxi.async_client import AsyncClient

#: Calls that the server answers when something happens.
LONG = {"WaitForJobChange"}


class LuxiCalls(AsyncCalls):
    """Calls over as many connections as are needed."""

    def __init__(self, make_client: Callable[[], AsyncClient]) -> None:
        self._make_client = make_client
        self._client = make_client()

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says; what is cancelled while it waits long is given up at the server too."""
        if method not in LONG:
            return await self._client.call(method, args)
        client = self._make_client()
        try:
            return await client.call(method, args)
        finally:
            client.close()

    def close(self) -> None:
        """Close the connection that is kept."""
        self._client.close()
