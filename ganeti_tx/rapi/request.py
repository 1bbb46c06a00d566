"""One HTTP request as the Remote API sees it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from twisted.web.http import datetimeToString
from twisted.web.server import Request

from ganeti_tx.rapi.answers import JSON, error_body
from ganeti_tx.rapi.caller import ANONYMOUS, Caller
from ganeti_tx.rapi.http_errors import HttpError, bad_request, not_found

#: Programs look at it to see what they talk to (Ganeti 3.0 RAPI table, response_headers).
SERVER = b"Ganeti 3.0.2"


class RapiRequest(Request):
    """Reads what came and writes the answer; the path stays as it was sent."""

    defaultContentType = None
    caller: Caller = ANONYMOUS

    def process(self) -> None:
        """Hand it to the routes."""
        channel: Any = self.channel
        self.site = channel.site
        self.setHeader(b"Server", SERVER)
        self.setHeader(b"Date", datetimeToString())
        if not self.path.startswith(b"/") or self.path.startswith(b"//"):
            self.write(self.reply_error(not_found()))
            return self.finish()
        self.prepath = []
        self.postpath = self.path[1:].split(b"/")
        self.render(channel.site.resource)

    def authorization(self) -> str | None:
        """The header of that name. @raise HttpError: 400, it is not text"""
        return self.getHeader("authorization")

    def peer(self) -> str:
        """The address that it comes from."""
        return str(getattr(self.getClientAddress(), "host", "unknown"))

    def arguments(self) -> Mapping[str, list[str]]:
        """Every value of every query argument. @raise HttpError: 400, something is not UTF-8"""
        raw: Mapping[bytes, list[bytes]] = self.args or {}
        try:
            return {name.decode(): [value.decode() for value in values] for name, values in raw.items()}
        except UnicodeDecodeError:
            raise bad_request("a query argument is not UTF-8")

    def body(self) -> bytes:
        """What came after the headers."""
        assert self.content is not None
        return self.content.read()

    def reply_error(self, error: HttpError) -> bytes:
        """Set the head of an answer that is not success; the body."""
        return self.reply(error.status, JSON, error_body(error), error.headers)

    def reply(
        self, status: HTTPStatus, content_type: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """Set the head of the answer; the body."""
        self.setResponseCode(status.value)
        for name, value in (headers or {}).items():
            self.setHeader(name, value)
        self.setHeader(b"Content-Type", content_type)
        self.setHeader(b"Content-Length", b"%d" % len(body))
        return body
