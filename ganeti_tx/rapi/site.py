"""The HTTP server in front of the routes."""

from typing import Any

from twisted.web.http import HTTPChannel
from twisted.web.http import Request as HttpRequest
from twisted.web.server import Site

from ganeti_tx.rapi.app import RapiApp
from ganeti_tx.rapi.request import RapiRequest

#: Seconds after which a connection without a request is closed.
IDLE_LIMIT = 60.0


class RapiSite(Site):
    """HTTP/1.1 and 1.0."""

    noisy = False
    protocol = HTTPChannel  # type: ignore[assignment]  # HTTP/1.1 alone; Twisted names what can do HTTP/2 too

    def __init__(self, app: RapiApp, reactor: Any) -> None:
        super().__init__(app.klein.resource(), requestFactory=RapiRequest, timeout=IDLE_LIMIT, reactor=reactor)

    def log(self, request: HttpRequest) -> None:
        """Nothing is written down."""
