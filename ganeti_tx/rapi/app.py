"""Operations as Klein routes: each request is let in, read, carried out and answered."""

from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from klein import Klein
from twisted.logger import Logger
from twisted.python.failure import Failure
from werkzeug.routing import BaseConverter

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.rapi.answers import JSON, Document, Stream, render
from ganeti_tx.rapi.caller import IGate
from ganeti_tx.rapi.errors import INTERNAL, http_error
from ganeti_tx.rapi.http_errors import HttpError, bad_request
from ganeti_tx.rapi.operation import Call, Operation
from ganeti_tx.rapi.request import RapiRequest
from ganeti_tx.rapi.streaming import send_stream

log = Logger()

#: Parts of paths that are numbers (Ganeti 3.0 RAPI table, uri_patterns); all others are names.
NUMBERS = {"job_id", "disk_index"}


class NameConverter(BaseConverter):
    """A name of anything."""

    regex = r"[A-Za-z0-9_.-]+"


class NumberConverter(BaseConverter):
    """A number, which stays the text that it is."""

    regex = r"[0-9]+"


class RapiApp:
    """All operations behind one gate.

    @ivar klein: the routes.
    """

    def __init__(self, operations: Iterable[Operation], gate: IGate, luxi: AsyncCalls, now: Callable[[], int]) -> None:
        """@param now: nanoseconds since the epoch."""
        self._gate = gate
        self._luxi = luxi
        self._now = now
        self.klein = Klein()
        self.klein.url_map.converters.update(name=NameConverter, number=NumberConverter)
        self.klein.url_map.merge_slashes = False
        self.klein.handle_errors(Exception)(self._failed)
        for operation in operations:
            self._add(operation)

    def _add(self, operation: Operation) -> None:
        async def answer(request: RapiRequest, **parts: str) -> bytes:
            return await self._answer(operation, request, parts)

        endpoint = f"{operation.method} {operation.path}"
        self.klein.route(route(operation.path), methods=[operation.method], endpoint=endpoint)(answer)

    async def _answer(self, operation: Operation, request: RapiRequest, parts: Mapping[str, str]) -> bytes:
        received = self._now()
        caller = await self._gate.admit(request.authorization(), request.peer(), operation, parts)
        request.caller = caller
        call = Call(operation, parts, request.arguments(), read_body(operation, request), caller, self._luxi, received)
        result = await operation.run(call)
        if isinstance(result, Stream):
            return await send_stream(request, result)
        if isinstance(result, Document):
            return request.reply(HTTPStatus.OK, result.content_type, result.body)
        return request.reply(HTTPStatus.OK, JSON, render(result))

    def _failed(self, request: RapiRequest, failure: Failure) -> bytes:
        error = http_error(failure.value)
        if error is None:
            log.failure("{method} {path} broke", failure, method=request.method, path=request.path)
            error = HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, INTERNAL)
        return request.reply_error(error)


def route(path: str) -> str:
    """A path of an operation as Klein writes it."""
    parts = (part[1:-1] if part.startswith("{") else None for part in path.split("/"))
    return "/".join(
        f"<{'number' if name in NUMBERS else 'name'}:{name}>" if name is not None else part
        for part, name in zip(path.split("/"), parts, strict=True)
    )


def read_body(operation: Operation, request: RapiRequest) -> Any:
    """The JSON that came with a request; None without any. @raise HttpError: 415, 400"""
    body = request.body()
    if not body:
        if operation.body_required:
            raise bad_request(f"{operation.method} {operation.path} needs a body of JSON")
        return None
    kind = (request.getHeader("content-type") or "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"a body must be of the type {JSON}, not {kind!r}")
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise bad_request(f"the body is not JSON: {error}")
