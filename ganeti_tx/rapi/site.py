"""The HTTP server in front of the routes."""

from typing import Any

from twisted.internet.interfaces import IAddress, IReactorTime
from twisted.web.http import Request as HttpRequest
from twisted.web.server import Site

from ganeti_tx.rapi.app import RapiApp
from ganeti_tx.rapi.channel import RapiChannel
from ganeti_tx.rapi.http.access_log import AccessLog
from ganeti_tx.rapi.http.connections import Connections
from ganeti_tx.rapi.request import RapiRequest


class RapiSite(Site):
    """HTTP/1.1 and 1.0.

    @ivar bodies: what the larger bodies under way take together, in bytes.
    """

    noisy = False
    protocol = RapiChannel  # type: ignore[assignment]  # HTTP/1.1 alone; Twisted names what can do HTTP/2 too

    def __init__(self, app: RapiApp, connections: Connections, access_log: AccessLog, reactor: IReactorTime) -> None:
        super().__init__(app.klein.resource(), requestFactory=RapiRequest, timeout=None, reactor=reactor)
        self.connections = connections
        self.access_log = access_log
        self.measures = app.measures
        self.bodies = 0

    def buildProtocol(self, addr: IAddress | None) -> Any:
        channel = super().buildProtocol(addr)
        assert isinstance(channel, RapiChannel)
        channel.connections = self.connections
        return channel

    def log(self, request: HttpRequest) -> None:
        """Into the access log, and among what is counted."""
        self.access_log.answered(request)
        assert isinstance(request, RapiRequest)
        self.measures.answered(request.operation, request.code, request.begun)
