"""A Remote API in memory: bytes go through the real HTTP parser and routes, and LUXI is a table of answers."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field, frozen
from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi import transport_errors
from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.luxi.framing import TERMINATOR
from ganeti_tx.luxi.server_messages import decode_request, encode_failure, encode_result
from ganeti_tx.rapi.app import AppParts, RapiApp
from ganeti_tx.rapi.caller import Caller, IGate
from ganeti_tx.rapi.events.event_feed import EventFeed
from ganeti_tx.rapi.http.access_log import AccessLog
from ganeti_tx.rapi.http.connections import Connections
from ganeti_tx.rapi.measures import Measures
from ganeti_tx.rapi.operations.operation import Operation
from ganeti_tx.rapi.resources.table import OPERATIONS
from ganeti_tx.rapi.site import RapiSite
from ganeti_tx.runtime.threads import InlineThreads

NOW = 1_790_000_000_000_000_000


class FakeLuxi(AsyncCalls):
    """Answers from a table: a value, an exception to raise, or what takes the arguments and gives either.

    @ivar calls: every call made, as (method, arguments).
    """

    def __init__(self, answers: Mapping[str, Any] | None = None) -> None:
        self.answers = dict(answers or {})
        self.calls: list[tuple[str, list[Any]]] = []

    async def ask(self, message: bytes) -> bytes:
        """As Luxi says; through JSON, as over a socket."""
        request = decode_request(message.removesuffix(TERMINATOR))
        assert isinstance(request.args, list)
        try:
            return encode_result(await self.call(request.method, request.args))
        except transport_errors.ProtocolError:
            raise
        except GanetiError as error:
            return encode_failure(error)

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says."""
        self.calls.append((method, args))
        answer = self.answers[method]
        if callable(answer):
            answer = answer(*args)
        if hasattr(answer, "__await__"):
            answer = await answer
        if isinstance(answer, Exception):
            raise answer
        return answer


@implementer(IGate)
@frozen
class OpenGate:
    """Lets everybody in."""

    name: str = "tester"

    async def admit(self, authorization: str | None, peer: str, operation: Any, parts: Mapping[str, str]) -> Caller:
        """As IGate says."""
        return Caller(self.name)


@frozen
class Answer:
    """An HTTP response, taken apart; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def parse(data: bytes) -> list[Answer]:
    """Every response in what a server wrote."""
    found = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        status = int(lines[0].split()[1])
        if headers.get("transfer-encoding") == "chunked":
            body, data = unchunked(data)
        else:
            length = int(headers.get("content-length", "0")) if status != 304 else 0
            body, data = data[:length], data[length:]
        found.append(Answer(status, headers, body))
    return found


def unchunked(data: bytes) -> tuple[bytes, bytes]:
    """The chunks that are there, and what follows them."""
    body = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        body, data = body + data[:length], data[length + 2 :]
        if not length:
            break
    return body, data


@define(eq=False)
class Connection:
    """One connection to a Remote API."""

    channel: Any
    transport: StringTransport

    def exchange(self, data: bytes) -> bytes:
        """Bytes arrive; the bytes that are written at once."""
        self.channel.dataReceived(data)
        written = self.transport.value()
        self.transport.clear()
        return written

    def send(self, data: bytes) -> list[Answer]:
        """Bytes arrive; what is answered to them at once."""
        self.channel.dataReceived(data)
        return self.answers()

    @property
    def gone(self) -> bool:
        """Whether the server hung up."""
        return self.transport.disconnecting or self.transport.disconnected

    def lose(self) -> None:
        """The client hangs up."""
        self.channel.connectionLost(Failure(ConnectionDone()))

    def answers(self) -> list[Answer]:
        """What was written since the last look."""
        written = self.transport.value()
        self.transport.clear()
        return parse(written)


@define(eq=False)
class Rapi:
    """A Remote API; `luxi` and `gate` are what it was made with, `most` is how many connections there may be."""

    operations: Iterable[Operation] = OPERATIONS
    luxi: FakeLuxi = field(factory=FakeLuxi)
    gate: IGate = field(factory=OpenGate)
    clock: Clock = field(factory=Clock)
    now: Callable[[], int] = lambda: NOW
    access_log: Path = Path("/dev/null")
    most: int = 20
    events: EventFeed | None = None
    connections: Connections = field(init=False)
    measures: Measures = field(init=False)
    site: RapiSite = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.connections = Connections(clock=self.clock, most=self.most)
        self.measures = Measures(self.clock, self.connections)
        parts = AppParts(self.gate, self.luxi, InlineThreads(), self.now, self.measures, self.events)
        app = RapiApp(self.operations, parts)
        log = AccessLog(self.access_log, self.clock, lambda: self.now() / 1e9)
        self.site = RapiSite(app, self.connections, log, self.clock)

    def connect(self, host: str = "192.0.2.1") -> Connection:
        """A new connection."""
        transport = StringTransport(
            hostAddress=IPv4Address("TCP", "127.0.0.1", 5080), peerAddress=IPv4Address("TCP", host, 40000)
        )
        channel = self.site.buildProtocol(None)
        channel.makeConnection(transport)
        return Connection(channel, transport)

    def request(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """One request on a connection of its own; `body` is sent as JSON unless it is bytes, None sends none."""
        all_headers = {"Host": "cluster.example", **(headers or {})}
        data = b""
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            all_headers = {"Content-Type": "application/json", **all_headers, "Content-Length": str(len(data))}
        head = "".join(f"{name}: {value}\r\n" for name, value in all_headers.items())
        written = self.connect().exchange(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + data)
        if method == "HEAD":
            assert written.endswith(b"\r\n\r\n"), "a body to HEAD"
            written = written.replace(b"Content-Length", b"Length")
        [answer] = parse(written)
        return answer

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        """GET."""
        return self.request("GET", path, headers=headers)
