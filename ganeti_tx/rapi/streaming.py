"""Answers that are sent piece by piece, no faster than their reader takes them."""

from contextlib import aclosing
from http import HTTPStatus
from typing import Any, cast

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

from ganeti_tx.rapi.http.answers import Stream
from ganeti_tx.rapi.request import RapiRequest


@implementer(IPushProducer)
class Flow:
    """Whether the client takes more; the transport tells."""

    def __init__(self) -> None:
        self._waiting: Deferred[None] | None = None
        self._paused = False

    def pauseProducing(self) -> None:
        """As IPushProducer says."""
        self._paused = True

    def resumeProducing(self) -> None:
        """As IPushProducer says."""
        self._paused = False
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.callback(None)

    def stopProducing(self) -> None:
        """The client has gone; the request is cancelled."""

    async def free(self) -> None:
        """Wait until the client takes more."""
        if self._paused:
            self._waiting = Deferred()
            await self._waiting


async def send_stream(request: RapiRequest, stream: Stream) -> bytes:
    """Send every chunk; what is left to send at the end is nothing. The client's leaving cancels it."""
    flow = Flow()
    request.setResponseCode(HTTPStatus.OK.value)
    request.setHeader(b"Content-Type", stream.content_type)
    request.setHeader(b"Cache-Control", b"no-store")
    if request.method == b"HEAD":
        return b""
    request.registerProducer(flow, True)
    measures = request.channel.site.measures
    measures.stream_begins()
    try:
        async with aclosing(cast(Any, stream.chunks)) as chunks:
            request.write(b"")
            async for chunk in chunks:
                request.write(chunk)
                await flow.free()
    finally:
        measures.stream_ends()
        if request.channel is not None:
            request.unregisterProducer()
    return b""
