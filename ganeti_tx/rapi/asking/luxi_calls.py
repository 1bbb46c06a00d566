"""LUXI for many requests at a time: nothing waits behind what takes long."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from ganeti_tx.luxi import transport_errors
from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.luxi.method_table import Effect
from ganeti_tx.luxi.own_methods import ALL_METHODS
from ganeti_tx.rapi.asking.questions import SharedQuestions, only_reads, question, reaches_nodes, result
from ganeti_tx.rapi.http.http_errors import HttpError

#: Calls that are answered when something happens; the master daemon gives one process not many more connections.
MOST_LONG = 256
#: Connections that are kept for further calls that change something.
KEPT = 4


def is_long(method: str) -> bool:
    """Whether a method is answered when something happens."""
    return ALL_METHODS[method].effect is Effect.WAITS


class LuxiCalls(AsyncCalls):
    """Each call that is no question has a connection to itself while it lasts."""

    def __init__(
        self, make_client: Callable[[], AsyncClient], *, questions: SharedQuestions, to_nodes: SharedQuestions
    ) -> None:
        """@param to_nodes: for questions that wait for nodes, behind which no others shall wait."""
        self._make_client = make_client
        self._questions = questions
        self._to_nodes = to_nodes
        self._kept: list[AsyncClient] = []
        self._long = 0

    async def ask(self, message: bytes) -> bytes:
        """As SharedQuestions.ask says."""
        return await (self._to_nodes if reaches_nodes(message) else self._questions).ask(message)

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says; what is cancelled while it waits long is given up at the server too.

        @raise HttpError: 503, too many wait already
        """
        if only_reads(method):
            return result(await self.ask(question(method, args)))
        if is_long(method):
            return await self._wait(method, args)
        client = self._kept.pop() if self._kept else self._make_client()
        try:
            return await client.call(method, args)
        except transport_errors.ProtocolError:
            client.close()
            raise
        finally:
            self._keep(client)

    async def _wait(self, method: str, args: list[Any]) -> Any:
        if self._long >= MOST_LONG:
            raise HttpError(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_LONG} requests are waiting already; try later")
        client = self._make_client()
        self._long += 1
        try:
            return await client.call(method, args)
        finally:
            self._long -= 1
            client.close()

    def _keep(self, client: AsyncClient) -> None:
        if len(self._kept) < KEPT:
            self._kept.append(client)
        else:
            client.close()

    def close(self) -> None:
        """Close the connections that are kept."""
        self._questions.close()
        self._to_nodes.close()
        for client in self._kept:
            client.close()
