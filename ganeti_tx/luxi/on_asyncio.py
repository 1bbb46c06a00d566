"""The LUXI client on asyncio; it imports no Twisted."""

import asyncio
from typing import Any, cast

from txaio import aio

from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.luxi.conversation import Conversation, Link
from ganeti_tx.luxi.daemon import LUXI_DAEMON, Daemon, connect_error
from ganeti_tx.luxi.timeouts import CONNECT, READ_WRITE

_aio: Any = aio  # has no types


class _Connection(asyncio.Protocol):
    """Hands what the loop says on to the conversation."""

    def __init__(self, loop: asyncio.AbstractEventLoop, answer_timeout: float) -> None:
        self._loop = loop
        self._answer_timeout = answer_timeout
        self.conversation: Conversation

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)
        framework = _aio.with_config(loop=self._loop)
        link = Link(stream.write, stream.abort, self._loop.call_later)
        self.conversation = Conversation(framework, link, self._answer_timeout)

    def data_received(self, data: bytes) -> None:
        self.conversation.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.conversation.lost()


def client(
    socket_path: str,
    *,
    daemon: Daemon = LUXI_DAEMON,
    connect_timeout: float = CONNECT,
    answer_timeout: float = READ_WRITE,
) -> AsyncClient:
    """A client for the running loop; time-outs in seconds."""

    async def connect() -> Conversation:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(connect_timeout):
                _, connection = await loop.create_unix_connection(
                    lambda: _Connection(loop, answer_timeout), socket_path
                )
        except OSError as error:
            raise connect_error(daemon, socket_path, error) from None
        return connection.conversation

    return AsyncClient(connect)
