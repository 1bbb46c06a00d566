"""The LUXI client for programs that wait without blocking, on Twisted or asyncio.

Make one with `ganeti_tx.luxi.on_twisted.client` or `ganeti_tx.luxi.on_asyncio.client`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.luxi.conversation import Conversation
from ganeti_tx.luxi.framing import frame
from ganeti_tx.luxi.messages import CLIENT_VERSION, Request, encode_request
from ganeti_tx.luxi.transport_errors import ConnectionClosedError

#: Opens a connection. It raises what says why there is none, see daemon.py.
Connect = Callable[[], Awaitable[Conversation]]


class AsyncClient(AsyncCalls):
    """One connection, opened by the first call and again by the first after its loss; calls may overlap.

    The server answers in order: what must not wait behind a WaitForJobChange takes another client.
    """

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._conversation: Conversation | None = None

    async def call(self, method: str, args: list[Any]) -> Any:
        """Send one request and wait for its result; cancelling stops the waiting, not the call.

        @raise NoMasterError: nobody listens on the socket; the text says who should and how to start it.
        @raise ProtocolError: no answer could be had; whether the request was carried out is not known.
        @raise GanetiError: the server's error.
        """
        return await self.send(frame(encode_request(Request(method, args, CLIENT_VERSION))))

    async def send(self, message: bytes) -> Any:
        """The same for a request that is framed already."""
        conversation = await self._talk()
        return await conversation.ask(message)

    async def _talk(self) -> Conversation:
        """The open connection; of several opened by overlapping first calls the earliest stays."""
        if self._conversation is None or not self._conversation.open:
            made = await self._connect()
            if self._conversation is not None and self._conversation.open:
                made.end(ConnectionClosedError("not needed"))
            else:
                self._conversation = made
        return self._conversation

    def close(self) -> None:
        """Close the connection, failing the calls under way; the next call opens another."""
        if self._conversation is not None:
            self._conversation.end(ConnectionClosedError("The client was closed"))
            self._conversation = None
