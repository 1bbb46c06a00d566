"""A small HTTP server for anybody who can reach it: few connections, requests in time, and no bodies unless one is allowed."""

import re
from typing import Any

from twisted.internet.interfaces import IAddress, IReactorTime
from twisted.web.http import Request as HttpRequest
from twisted.web.resource import IResource
from twisted.web.server import Request, Site

from ganeti_tx.runtime.limited_channel import Connections, LimitedChannel
from ganeti_tx.runtime.refusing_request import RefusingRequest

#: What stands before the path in requests as proxies get them, which every server must take (RFC 9112, 3.2.2).
_ORIGIN = re.compile(rb"^http://[^/]+", re.IGNORECASE)


class BodilessRequest(RefusingRequest):
    """A request without a body; one with a body is refused before it is read. No content type is told by itself."""

    defaultContentType = None  # it is told only where one is meant

    def takes(self, length: int | None) -> bool:
        """Whether a body of this length, None if it is not told, may come. The head of the request is known already."""
        return length == 0

    def gotLength(self, length: int | None) -> None:
        if self.takes(length):
            super().gotLength(length)
        else:
            self.refuse_body()


def origin_form(path: bytes) -> bytes:
    """The path of a request, whichever way it was written."""
    return _ORIGIN.sub(b"", path, count=1) or b"/"


class LimitedSite(Site):
    """The HTTP server; it keeps no access log."""

    noisy = False
    protocol = LimitedChannel  # type: ignore[assignment]  # HTTP/1.1 alone; Twisted names what can do HTTP/2 too

    def __init__(self, resource: IResource, requests: type[Request], idle: float, reactor: IReactorTime) -> None:
        """@param idle: seconds after which a connection without a request is closed."""
        super().__init__(resource, requestFactory=requests, timeout=idle, reactor=reactor)
        self.connections = Connections(reactor)

    def buildProtocol(self, addr: IAddress | None) -> Any:
        channel = super().buildProtocol(addr)
        assert isinstance(channel, LimitedChannel)
        channel.connections = self.connections
        return channel

    def log(self, request: HttpRequest) -> None:
        """Nothing is written down."""
