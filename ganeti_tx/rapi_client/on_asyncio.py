"""The client on asyncio and the standard library's TLS; it imports no Twisted."""

import asyncio
import ssl
from typing import Any, cast

from txaio import aio

from ganeti_tx.rapi_client import connect_errors
from ganeti_tx.rapi_client.async_client import AsyncClient, Framework
from ganeti_tx.rapi_client.conversation import Conversation
from ganeti_tx.rapi_client.link import Link
from ganeti_tx.rapi_client.server import Server
from ganeti_tx.rapi_client.trust import check_pin, ssl_context

_aio: Any = aio  # has no types


class _Connection(asyncio.Protocol):
    """Hands what the loop says on to the conversation."""

    def __init__(self, loop: asyncio.AbstractEventLoop, server: Server) -> None:
        self._loop = loop
        self._server = server
        self._transport: asyncio.Transport
        self.conversation: Conversation

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        wire = self._transport
        pause, resume = wire.pause_reading, wire.resume_reading
        link = Link(wire.write, self._abort, pause, resume, self._loop.call_later, self._runs_here)
        self.conversation = Conversation(_aio.with_config(loop=self._loop), link, self._server)

    def data_received(self, data: bytes) -> None:
        self.conversation.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.conversation.lost(connect_errors.lost(self._server, exc) if exc is not None else None)

    def _abort(self) -> None:
        """From wherever the client is closed, also when the loop is no more."""
        if self._loop.is_closed():
            return
        if self._runs_here():
            self._transport.abort()
        else:
            self._loop.call_soon_threadsafe(self._transport.abort)

    def _runs_here(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def check_certificate(self) -> None:
        """@raise CertificateError: another one is pinned; the connection is aborted."""
        tls: ssl.SSLObject = self._transport.get_extra_info("ssl_object")
        try:
            check_pin(self._server.trust, tls.getpeercert(binary_form=True))
        except BaseException:
            self._transport.abort()
            raise


def client(server: Server) -> AsyncClient:
    """A client for any loop, one at a time. @raise X509CertError: the trusted certificates cannot be read."""
    tls = ssl_context(server.trust)

    async def connect() -> Conversation:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(server.connect_timeout):
                _, connection = await loop.create_connection(
                    lambda: _Connection(loop, server),
                    server.host,
                    server.port,
                    ssl=tls,
                    server_hostname=server.verified_name,
                )
        except OSError as error:
            raise connect_errors.connect_error(server, error) from None
        connection.check_certificate()
        return connection.conversation

    return AsyncClient(server, Framework(connect, asyncio.sleep, lambda: asyncio.get_running_loop().time()))
