"""The daemon's answers over HTTP. Who asks is known by address and interface; nobody gets anything of others."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from twisted.internet.interfaces import IReactorTime
from twisted.web.resource import Resource
from twisted.web.server import Request

from ganeti_tx.metad.guests import Guest, Guests
from ganeti_tx.metad.pages import BYTES, TEXT, Document, document
from ganeti_tx.metad.talk import Full
from ganeti_tx.runtime.limited_site import BodilessRequest, LimitedSite, origin_form
from ganeti_tx.runtime.refusing_request import channel_of

#: Bytes that a guest may write at once.
MOST_WRITTEN = 64 * 1024
#: Seconds after which a connection without a request is closed.
IDLE_LIMIT = 30.0
_READ = re.compile(r"/ganeti/(latest|\d{4}-\d{2}-\d{2})/read")
_WRITE = re.compile(r"/ganeti/(latest|\d{4}-\d{2}-\d{2})/write")
#: Says by which interface a connection came in; None if that cannot be told.
InterfaceOf = Callable[[Any], str | None]


class GuestRequest(BodilessRequest):
    """A body may come with what a guest writes, and with nothing else."""

    def takes(self, length: int | None) -> bool:
        channel: Any = channel_of(self)
        if channel._command != b"POST" or not _WRITE.fullmatch(path_of(channel._path)):
            return super().takes(length)
        return length is not None and length <= MOST_WRITTEN


def path_of(uri: bytes) -> str:
    """Without what is asked of it."""
    return origin_form(uri).partition(b"?")[0].decode("ascii", "replace")


class Answers(Resource):
    """Every path."""

    isLeaf = True

    def __init__(self, guests: Guests, interface_of: InterfaceOf, clock: IReactorTime) -> None:
        super().__init__()
        self._guests = guests
        self._interface_of = interface_of
        self._clock = clock

    def render(self, request: Request) -> bytes:
        """Answer at once: all is in memory."""
        channel = channel_of(request)
        guest = self._guests.at(channel.peer(), self._interface_of(channel.transport))
        if guest is None:
            channel.connections.tell("{peer} asks, and is no instance of this node", peer=channel.peer())
            return ended(request, HTTPStatus.NOT_FOUND, "not found")
        if not guest.bucket.take(self._clock.seconds()):
            request.setHeader(b"Retry-After", b"1")
            return ended(request, HTTPStatus.TOO_MANY_REQUESTS, "too many requests")
        if request.getHeader(b"x-forwarded-for") is not None:  # a proxy in the guest, made to ask by somebody outside
            return ended(request, HTTPStatus.FORBIDDEN, "not through a proxy")
        return answer(guest, request)


def answer(guest: Guest, request: Request) -> bytes:
    """What this guest gets."""
    path = path_of(request.path)
    if _WRITE.fullmatch(path):
        return written(guest, request)
    if request.method not in (b"GET", b"HEAD"):
        request.setHeader(b"Allow", b"GET, HEAD")
        return ended(request, HTTPStatus.METHOD_NOT_ALLOWED, "only GET")
    found: Document | None
    if _READ.fullmatch(path):
        found = Document(BYTES, guest.talk.to_guest.read() if request.method == b"GET" else b"")
    else:
        found = document(guest.facts, path)
    if found is None:
        return ended(request, HTTPStatus.NOT_FOUND, "not found")
    return ended(request, HTTPStatus.OK, found.body, found.content_type)


def written(guest: Guest, request: Request) -> bytes:
    """It tells its node something."""
    if request.method != b"POST":
        request.setHeader(b"Allow", b"POST")
        return ended(request, HTTPStatus.METHOD_NOT_ALLOWED, "only POST")
    body: Any = request.content
    try:
        guest.talk.to_node.write(body.read())
    except Full:
        return ended(request, HTTPStatus.INSUFFICIENT_STORAGE, "the node has not read what is there")
    return ended(request, HTTPStatus.OK, b"")


def ended(request: Request, code: int, body: str | bytes, content_type: str = TEXT) -> bytes:
    """The body of an answer, whose head is set. A text is a line of its own."""
    content = f"{body}\n".encode() if isinstance(body, str) else body
    request.setResponseCode(code)
    request.setHeader(b"Content-Type", content_type.encode())
    request.setHeader(b"Content-Length", str(len(content)).encode())
    request.setHeader(b"Cache-Control", b"no-store")
    return b"" if request.method == b"HEAD" else content


class MetadataSite(LimitedSite):
    """The HTTP server."""

    def __init__(self, guests: Guests, interface_of: InterfaceOf, reactor: IReactorTime) -> None:
        super().__init__(Answers(guests, interface_of, reactor), GuestRequest, IDLE_LIMIT, reactor)
