"""Operations as Klein routes: each request is let in, read, carried out and answered."""

from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any, cast

from attrs import evolve, frozen
from klein import Klein
from twisted.logger import Logger
from twisted.python.failure import Failure
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.routing import BaseConverter

from ganeti_tx.rapi.access.judged_jobs import RememberedJobs
from ganeti_tx.rapi.access.signed_calls import calls_of
from ganeti_tx.rapi.asking.memory import Memory
from ganeti_tx.rapi.asking.question_jobs import QuestionJobs
from ganeti_tx.rapi.asking.recording import Luxi, Recording
from ganeti_tx.rapi.caller import IGate
from ganeti_tx.rapi.errors import INTERNAL, http_error
from ganeti_tx.rapi.events.event_feed import EventFeed
from ganeti_tx.rapi.http.answers import JSON, Document, Stream
from ganeti_tx.rapi.http.etag import ANY, GZIP, listed, quoted
from ganeti_tx.rapi.http.http_errors import HttpError, forbidden
from ganeti_tx.rapi.http.negotiation import takes_gzip
from ganeti_tx.rapi.http.representation import Representation
from ganeti_tx.rapi.json_body import read_body
from ganeti_tx.rapi.measures import Measures
from ganeti_tx.rapi.operations.operation import NUMBERS, Call, Operation
from ganeti_tx.rapi.preconditions import Preconditions
from ganeti_tx.rapi.request import RapiRequest
from ganeti_tx.rapi.streaming import send_stream
from ganeti_tx.runtime.threads import IThreads

log = Logger()

VARY = b"Accept, Accept-Encoding"


class NameConverter(BaseConverter):
    """A name of anything."""

    regex = r"[A-Za-z0-9_.-]+"


class NumberConverter(BaseConverter):
    """A number, which stays the text that it is."""

    regex = r"[0-9]+"


@frozen
class AppParts:
    """What requests are answered with.

    @ivar now: nanoseconds since the epoch.
    """

    gate: IGate
    luxi: Luxi
    threads: IThreads
    now: Callable[[], int]
    measures: Measures
    events: EventFeed | None = None


class RapiApp:
    """All operations behind one gate.

    @ivar klein: the routes.
    @ivar measures: what is counted.
    """

    def __init__(self, operations: Iterable[Operation], parts: AppParts) -> None:
        self._parts = parts
        self.measures = parts.measures
        self._memory = Memory()
        self._jobs = RememberedJobs(parts.luxi)
        self._questions = QuestionJobs(parts.measures.clock)
        self._preconditions = Preconditions(operations)
        self.klein = Klein()
        self.klein.url_map.converters.update(name=NameConverter, number=NumberConverter)
        self.klein.url_map.merge_slashes = False
        fail: Any = self._failed  # Klein asks for its own type of requests
        self.klein.handle_errors(Exception)(fail)
        for operation in operations:
            self._add(operation)

    def _add(self, operation: Operation) -> None:
        async def answer(request: RapiRequest, **parts: str) -> bytes:
            return await self._answer(operation, request, parts)

        endpoint = f"{operation.method} {operation.path}"
        self.klein.route(route(operation.path), methods=[operation.method], endpoint=endpoint)(answer)

    async def _answer(self, operation: Operation, request: RapiRequest, parts: Mapping[str, str]) -> bytes:
        received = self._parts.now()
        request.operation = operation
        authorization = request.getHeader("authorization")
        caller = await self._parts.gate.admit(authorization, request.channel.address, operation, parts)
        request.came_from(caller)
        body = read_body(operation, request)
        luxi = calls_of(Recording(self._parts.luxi), caller, received, self._jobs)
        call = Call(
            operation, parts, request.arguments(), body, caller, luxi, received, self.measures, request.getHeader,
            self._parts.events, request.channel.address, self._questions,
        )  # fmt: skip
        if operation.method == "GET" and not operation.submits:
            return await self._show(request, call)
        if request.method == b"HEAD":
            raise MethodNotAllowed
        check_own_wish(request)
        if_match = request.getHeader("if-match")
        if if_match is not None:
            await self._preconditions.check(if_match, call)
        return request.reply(HTTPStatus.OK, JSON, Representation.of(await operation.run(call)).body)

    async def _show(self, request: RapiRequest, call: Call) -> bytes:
        """Answer a request that changes nothing."""
        key = call.operation.path, tuple(call.parts.items()), request.query, call.caller if call.caller.scopes else None
        recalled, answers = (None, {}) if call.body is not None else await self._memory.recall(key, self._parts.luxi)
        if recalled is not None:
            return await self._represent(request, recalled)
        luxi = Recording(self._parts.luxi, answers)
        shown = await call.operation.run(evolve(call, luxi=calls_of(luxi, call.caller, call.received, self._jobs)))
        if isinstance(shown, Stream):
            luxi.asked = None  # it may ask for hours
            return await send_stream(request, shown)
        representation = Representation.of(shown)
        if call.body is None and not isinstance(shown, Document):
            self._memory.keep(key, luxi.asked, representation)
        return await self._represent(request, representation)

    async def _represent(self, request: RapiRequest, representation: Representation) -> bytes:
        request.setHeader(b"Vary", VARY)
        body, tag = representation.body, representation.tag
        if takes_gzip(request.getHeader("accept-encoding")):
            compressed = await representation.compressed(self._parts.threads)
            if compressed is not None:
                body, tag = compressed, tag + GZIP
                request.setHeader(b"Content-Encoding", b"gzip")
        request.setHeader(b"ETag", quoted(tag).encode("ascii"))
        if is_known(request.getHeader("if-none-match"), representation.tag):
            return request.unchanged()
        return request.reply(HTTPStatus.OK, representation.content_type, body)

    def _failed(self, request: RapiRequest, failure: Failure) -> bytes:
        error = http_error(cast(BaseException, failure.value))
        if error is None:
            log.failure("{method} {path} broke", failure, method=request.method, path=request.path)
            error = HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, INTERNAL)
        if request.startedWriting:  # a stream; that the connection breaks tells that it is not at its end
            request.channel.drop()
            return b""
        return request.reply_error(error)


def check_own_wish(request: RapiRequest) -> None:
    """@raise HttpError: 403, a page of another site makes a browser do it, with the password that the browser keeps"""
    site = request.getHeader("sec-fetch-site")
    if site in ("cross-site", "same-site"):
        raise forbidden(f"a page of another site (Sec-Fetch-Site: {site}) may not change anything here")


def is_known(if_none_match: str | None, tag: str) -> bool:
    """Whether the client has what it would get."""
    if if_none_match is None:
        return False
    tags = listed(if_none_match)
    return ANY in tags or tag in tags


def route(path: str) -> str:
    """A path of an operation as Klein writes it."""
    return "/".join(variable(part[1:-1]) if part.startswith("{") else part for part in path.split("/"))


def variable(name: str) -> str:
    """A named part as Klein writes it."""
    return f"<{'number' if name in NUMBERS else 'name'}:{name}>"
