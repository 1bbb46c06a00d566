"""Node calls over HTTP: one POST each, only from a certificate that is a master candidate's."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IAddress, IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.http import (
    BAD_REQUEST,
    FORBIDDEN,
    INTERNAL_SERVER_ERROR,
    NOT_ALLOWED,
    NOT_FOUND,
    REQUEST_ENTITY_TOO_LARGE,
)
from twisted.web.http import Request as HttpRequest
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site

from ganeti_tx.errors import GanetiError
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.refusals import BadArguments, NoStamp, UnknownCall
from ganeti_tx.rpc.table import CALLS
from ganeti_tx.rpc.wire import CONTENT_TYPE, decode_call, encode_failure, encode_success
from ganeti_tx.runtime.daemon_logs import log_of
from ganeti_tx.runtime.daemon_names import NODE
from ganeti_tx.runtime.limited_channel import (
    HEAD_LIMIT,
    MAX_UNAUTHENTICATED,
    SLOWEST,
    Connections,
    LimitedChannel,
)
from ganeti_tx.runtime.refusing_request import RefusingRequest
from ganeti_tx.runtime.tls import peer_name

log = Logger()

MAX_REQUEST = max(call.max_request for call in CALLS.values())
#: Who may not make calls gets his refusal after so many bytes at most.
MAX_UNAUTHENTICATED_BODY = 64 * 1024
#: What the bodies under way may take together; they lie in temporary files.
MAX_BODIES = 2 * MAX_REQUEST
TOO_MUCH = b"HTTP/1.1 503 Too Much At A Time\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
#: Seconds after which a connection without a request is closed.
IDLE_LIMIT = 120.0

NOT_LISTED = (
    "only master candidates may call, and this node does not list the caller's certificate as one's; if it is one's, "
    "'gnt-node add --readd' on the master sets this node up anew"
)
#: Turns of the reactor until a hang-up is heard that had come before a call was read. A daemon that stood still may
#: read a call long after its caller gave it up and did something else instead.
HANG_UP_TURNS = 2

#: Whether the peer of a transport may make node calls.
Admission = Callable[[Any], bool]


class BoundedRequest(RefusingRequest):
    """Refuses a body before it is read when it is longer than any call may be, or than an unauthenticated peer's may be, or when
    there is no room for it beside those that are coming in already.
    """

    _room = 0

    def gotLength(self, length: int | None) -> None:
        channel = self.limited
        admitted = channel.site.admitted(self.transport)
        if admitted:
            channel.connections.known(channel)
        if length is None or length > (MAX_REQUEST if admitted else MAX_UNAUTHENTICATED_BODY):
            self.refuse_body()
        elif channel.site.bodies + length > MAX_BODIES:
            self.refuse_body(TOO_MUCH)
        else:
            channel.allow(HEAD_LIMIT + length / SLOWEST)
            channel.site.bodies += length
            self._room = length
            super().gotLength(length)

    def finish(self) -> None:
        self._give_room_back()
        super().finish()

    def connectionLost(self, reason: Failure) -> None:
        self._give_room_back()
        super().connectionLost(reason)

    def _give_room_back(self) -> None:
        if self._room:
            self.limited.site.bodies -= self._room
            self._room = 0


class CallResource(Resource):
    """Every path is the name of a call."""

    isLeaf = True

    def __init__(self, dispatch: NodeDispatch, admitted: Admission, clock: IReactorTime) -> None:
        super().__init__()
        self._dispatch = dispatch
        self._admitted = admitted
        self._clock = clock

    def render(self, request: Request) -> bytes | int:
        """Check who asks and what, then answer when the call is done."""
        if not self._admitted(request.transport):
            return refuse(request, FORBIDDEN, NOT_LISTED)
        if request.method != b"POST":
            return refuse(request, NOT_ALLOWED, "only POST")
        try:
            kind = self._dispatch.kind_of(request.path.lstrip(b"/").decode("ascii", "replace"))
        except UnknownCall as error:
            return refuse(request, NOT_FOUND, str(error))
        assert request.content is not None
        body = request.content.read(kind.max_request + 1)
        if len(body) > kind.max_request:
            return refuse(request, REQUEST_ENTITY_TOO_LARGE, f"{kind.name} takes at most {kind.max_request} bytes")
        try:
            call = decode_call(kind, body)
        except BadArguments as error:
            return refuse(request, BAD_REQUEST, str(error))
        answer = Deferred.fromCoroutine(self._answer(request, call))
        gone = request.notifyFinish()
        gone.addErrback(lambda _: None)
        answer.addErrback(self._broken, request)
        return NOT_DONE_YET

    async def _answer(self, request: Request, call: NodeCall[object]) -> None:
        for _ in range(HANG_UP_TURNS):
            await deferLater(self._clock, 0)
        if request._disconnected:
            log.info("{name} is not begun: its caller has given it up", name=call.name)
            return
        try:
            caller = peer_name(request.transport)
            body = encode_success(await self._dispatch.perform(call, caller, lambda: not request._disconnected))
        except NoStamp as error:
            body = refuse(request, HTTPStatus.UPGRADE_REQUIRED, str(error))
        except GanetiError as error:
            body = encode_failure(error)
        if not request._disconnected:
            request.setHeader(b"Content-Type", CONTENT_TYPE.encode())
            request.setHeader(b"Content-Length", str(len(body)).encode())
            request.write(body)
            request.finish()

    def _broken(self, failure: Failure, request: Request) -> None:
        if failure.check(CancelledError) is None:
            log.failure("a node call broke", failure)
        if not request._disconnected and not request.finished:
            request.write(
                refuse(request, INTERNAL_SERVER_ERROR, f"internal error; on the node, {log_of(NODE)} has more")
            )
            request.finish()


def refuse(request: Request, code: int, text: str) -> bytes:
    """A plain refusal in one line."""
    request.setResponseCode(code)
    request.setHeader(b"Content-Type", b"text/plain; charset=utf-8")
    return f"{text}\n".encode()


class NodeSite(Site):
    """The HTTP server of a node daemon; it keeps no access log: what a call did is in the job that made it."""

    noisy = False
    protocol = LimitedChannel  # type: ignore[assignment]  # HTTP/1.1 alone; Twisted names what can do HTTP/2 too

    def __init__(
        self, dispatch: NodeDispatch, admitted: Admission, reactor: IReactorTime, most: int = MAX_UNAUTHENTICATED
    ) -> None:
        """@param most: so many connections of unauthenticated peers there may be."""
        super().__init__(
            CallResource(dispatch, admitted, reactor),
            requestFactory=BoundedRequest,
            timeout=IDLE_LIMIT,
            reactor=reactor,
            parsePOSTFormSubmission=False,
        )
        self.admitted = admitted
        self.bodies = 0
        self._connections = Connections(reactor, most)

    def buildProtocol(self, addr: IAddress | None) -> Any:
        channel = super().buildProtocol(addr)
        assert isinstance(channel, LimitedChannel)
        channel.connections = self._connections
        return channel

    def log(self, request: HttpRequest) -> None:
        """Nothing is written down."""
