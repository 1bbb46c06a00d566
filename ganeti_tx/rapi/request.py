"""One HTTP request as the Remote API sees it: what may come, and what was said in it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from twisted.python.failure import Failure
from twisted.web.http import datetimeToString
from twisted.web.server import Request

from ganeti_tx.rapi.caller import ANONYMOUS, Caller
from ganeti_tx.rapi.channel import RapiChannel
from ganeti_tx.rapi.http.answers import JSON, SERVER, error_body
from ganeti_tx.rapi.http.http_errors import HttpError, bad_request, not_found
from ganeti_tx.rapi.operations.operation import Operation

MIB = 1024 * 1024
#: The longest body: a thousand instances to be created fit.
MAX_BODY = 4 * MIB
#: The same for who shows no credentials. For so little there is always room, as connections are few.
MAX_UNAUTHENTICATED_BODY = 16 * 1024
#: What the larger bodies under way may take together.
MAX_BODIES = 32 * MIB
#: In the log, for who did not wait for his answer.
GONE = 499

#: In percent encoding; nothing has a name with it.
NUL = b"%00"


class RapiRequest(Request):
    """Reads what came and writes the head of the answer; the path stays as it was sent."""

    defaultContentType = None
    channel: RapiChannel
    caller: Caller = ANONYMOUS
    #: What was asked for, if there is such a thing.
    operation: Operation | None = None
    #: When it had come whole, in seconds of the clock.
    begun = 0.0
    #: What stands after the question mark.
    query = b""
    _refused = False
    _room = 0

    def gotLength(self, length: int | None) -> None:
        """The head is there; the body is refused before it is read when there is no room for it."""
        site = self.channel.site
        most = MAX_BODY if self.requestHeaders.hasHeader(b"Authorization") else MAX_UNAUTHENTICATED_BODY
        if length is None:
            return self._refuse(HttpError(HTTPStatus.LENGTH_REQUIRED, "send a Content-Length instead of chunks"))
        if length > most:
            text = f"a body of {length} bytes; allowed are {most}"
            return self._refuse(HttpError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text))
        room = length if length > MAX_UNAUTHENTICATED_BODY else 0
        if room and site.bodies + room > MAX_BODIES:
            return self._refuse(HttpError(HTTPStatus.SERVICE_UNAVAILABLE, "too many large requests at a time"))
        if length:
            self.channel.body_follows(length)
        site.bodies += room
        self._room = room
        super().gotLength(length)

    def _refuse(self, error: HttpError) -> None:
        self._refused = True
        self.channel.refuse(error)
        super().gotLength(0)

    def handleContentChunk(self, data: bytes) -> None:
        """As http.Request says."""
        if not self._refused:
            super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """All of it is there."""
        if self._refused:
            return
        self.channel.came_whole()
        self.begun = self.channel.site.measures.clock.seconds()
        self.method, self.uri, self.clientproto = command, path, version
        self.path, _, self.query = path.partition(b"?")
        self.args = {}
        assert self.content is not None
        self.content.seek(0)
        self.process()

    def process(self) -> None:
        """Hand it to the routes, if it can be one of theirs."""
        self.site = site = self.channel.site
        self.setHeader(b"Server", SERVER.encode("ascii"))
        self.setHeader(b"Date", datetimeToString())
        if self.path.startswith((b"http://", b"https://")):
            self.path = b"/" + self.path.split(b"/", 3)[3] if self.path.count(b"/") > 2 else b"/"
        if self.clientproto == b"HTTP/1.1" and len(self.requestHeaders.getRawHeaders(b"Host", ())) != 1:
            return self._end_with(bad_request("a request of HTTP/1.1 must have one Host header"))
        if len(self.requestHeaders.getRawHeaders(b"Authorization", ())) > 1:
            return self._end_with(bad_request("a request must not have more than one Authorization header"))
        if not self.path.startswith(b"/") or self.path.startswith(b"//") or not self.path.isascii() or NUL in self.path:
            return self._end_with(not_found())
        self.prepath = []
        self.postpath = self.path[1:].split(b"/")
        self.render(site.resource)

    def _end_with(self, error: HttpError) -> None:
        self.write(self.reply_error(error))
        self.finish()

    def finish(self) -> None:
        """As http.Request says."""
        self._give_room_back()
        super().finish()

    def connectionLost(self, reason: Failure) -> None:
        """As http.Request says."""
        self._give_room_back()
        if self.channel.busy:
            self.code = GONE
            self.channel.site.log(self)
        super().connectionLost(reason)

    def _give_room_back(self) -> None:
        self.channel.site.bodies -= self._room
        self._room = 0

    # What was said

    def getHeader(self, key: Any) -> Any:
        """As http.Request says; clients may send any bytes, and text has signs instead of those that are no UTF-8."""
        if isinstance(key, bytes):
            return super().getHeader(key)
        value = super().getHeader(key.encode("ascii"))
        return None if value is None else value.decode("utf-8", "replace")

    def getRequestHostname(self) -> bytes:
        """As http.Request says, for routes that are the same whatever clients call this host."""
        return b"localhost"

    def came_from(self, caller: Caller) -> None:
        """Who it is was found out."""
        self.caller = caller
        if caller.name is not None:
            self.channel.known = True

    def arguments(self) -> Mapping[str, list[str]]:
        """Every value of every query argument. @raise HttpError: 400, something is not UTF-8, or no text"""
        if not self.query:
            return {}
        if NUL in self.query:
            raise bad_request("the query arguments hold a NUL character")
        try:
            return parse_qs(self.query.decode("ascii"), keep_blank_values=True, errors="strict")
        except ValueError:
            raise bad_request("the query arguments are not UTF-8 in percent encoding")

    def body(self) -> bytes:
        """What came after the head."""
        assert self.content is not None
        data: bytes = self.content.read()
        return data

    # What is answered

    def reply_error(self, error: HttpError) -> bytes:
        """Set the head of an answer that is not success; the body."""
        for name, value in error.headers.items():
            self.setHeader(name, value)
        return self.reply(error.status, JSON, error_body(error))

    def unchanged(self) -> bytes:
        """Set the head of the answer for who has what he would get; the body, which is empty."""
        self.setResponseCode(HTTPStatus.NOT_MODIFIED.value)
        self.responseHeaders.removeHeader(b"Content-Encoding")
        return b""

    def reply(self, status: HTTPStatus, content_type: str, body: bytes) -> bytes:
        """Set the head of the answer; the body."""
        self.setResponseCode(status.value, status.phrase.encode("ascii"))
        self.setHeader(b"Content-Type", content_type.encode("ascii"))
        self.setHeader(b"Content-Length", b"%d" % len(body))
        self.channel.answering(len(body))
        return body
