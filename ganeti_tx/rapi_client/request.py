"""Requests as typed values: how each is written, and how its answer is read."""

import html
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Generic, Literal, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from attrs import evolve, field, frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.rapi_client.errors import AnswerError, RapiError, shortened
from ganeti_tx.rapi_client.message import Message, Reply, Step

T = TypeVar("T")
Method = Literal["GET", "PUT", "POST", "DELETE"]
#: None and False are left out, True is sent as 1, each of a sequence is sent.
Query: TypeAlias = Mapping[str, str | int | bool | Sequence[str] | None]
#: The id of a job that was submitted.
JobId: TypeAlias = int

_JSON = (("Content-Type", "application/json"),)


@frozen
class Request(Generic[T]):
    """One request with its typed answer; it is an action of one step."""

    method: Method
    #: Percent-encoded.
    path: str
    read: Callable[[Reply], T]
    query: Query = field(factory=dict)
    body: Any = None
    safe: bool = False
    headers: tuple[tuple[str, str], ...] = ()

    def matching(self, etag: str) -> "Request[T]":
        """The same, to be carried out only while the resource has this ETag (status 412 when it has another)."""
        return evolve(self, headers=(*self.headers, ("If-Match", etag)))

    @property
    def message(self) -> Message:
        """It as it is sent."""
        query = urlencode(list(_arguments(self.query)))
        body = None if self.body is None else msgspec.json.encode(self.body)
        headers = self.headers if body is None else (*self.headers, *_JSON)
        return Message(self.method, f"{self.path}?{query}" if query else self.path, body, headers, self.safe)

    def steps(self) -> Generator[Step, Reply, T]:
        """Send it, read the answer. @raise RapiError, AnswerError"""
        reply = yield self.message
        return self.read(checked(reply))


def _arguments(query: Query) -> Generator[tuple[str, str], None, None]:
    for name, value in query.items():
        match value:
            case None | False:
                continue
            case True:
                yield name, "1"
            case str() | int():
                yield name, str(value)
            case _:
                yield from ((name, each) for each in value)


def path(template: str, *names: str | int) -> str:
    """A path with the names put in for each {}, percent-encoded. @raise OpPrereqError: one cannot be part of a path."""
    return template.format(*(_segment(str(name)) for name in names))


def _segment(name: str) -> str:
    if name in ("", ".", ".."):  # what is between here and the server may take those out of a path
        raise OpPrereqError(f"No name, job id or number: {name!r}", ECode.INVAL)
    try:
        return quote(name, safe="")
    except UnicodeEncodeError:
        raise OpPrereqError(f"Not a text: {name[:100]!r}", ECode.INVAL) from None


def get(where: str, kind: type[T], query: Query | None = None) -> Request[T]:
    """A request that changes nothing and answers JSON that fits a type."""
    return Request("GET", where, json_of(kind), query or {}, safe=True)


def submit(method: Method, where: str, query: Query, body: Any = None) -> Request[JobId]:
    """A request that submits a job."""
    return Request(method, where, json_of(int), query, body)


def given(**values: Any) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def json_of(kind: type[T]) -> Callable[[Reply], T]:
    """Reads a body of JSON."""
    decoder = msgspec.json.Decoder(kind)

    def read(reply: Reply) -> T:
        try:
            return decoder.decode(reply.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise AnswerError(f"The answer cannot be read: {error}: {shortened(reply.body)}") from None

    return read


def text(reply: Reply) -> str:
    """Reads a body of text. @raise AnswerError: it is not UTF-8."""
    try:
        return reply.body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AnswerError(f"The answer is not UTF-8 text: {error.reason}") from None


class _ErrorBody(msgspec.Struct):
    message: str = ""
    explain: str = ""


def checked(reply: Reply) -> Reply:
    """A reply of success. @raise RapiError: it is an error."""
    if 200 <= reply.status < 300:
        return reply
    try:
        body = msgspec.json.decode(reply.body, type=_ErrorBody)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        body = _ErrorBody()
    message = html.unescape(body.message) or f"The server answered with status {reply.status}"
    raise RapiError(reply.status, message, body.explain)
