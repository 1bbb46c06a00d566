"""Node calls over HTTPS: one POST a call, connections kept warm, every failure one clear error."""

import errno
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from io import BytesIO
from typing import Any

from attrs import define, frozen
from twisted.internet.defer import CancelledError, Deferred, TimeoutError, succeed
from twisted.internet.error import ConnectionDone, ConnectionLost, ConnectionRefusedError
from twisted.internet.error import TimeoutError as ConnectTimeout
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web.client import FileBodyProducer, ResponseDone, ResponseFailed
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IBodyProducer, IResponse
from zope.interface import implementer

from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.node_port import NODE_PORT
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.each_node import on_each
from ganeti_tx.rpc.interfaces import (
    INodeRpc,
    NodeCallError,
    NodeOfflineError,
    NodeUnreachableError,
    Outcome,
    R,
    Target,
)
from ganeti_tx.rpc.refusals import ADVICE, BY_STATUS, CallRefused
from ganeti_tx.rpc.wire import CONTENT_TYPE, decode_answer, encode_call
from ganeti_tx.runtime.daemon_control import DaemonControl
from ganeti_tx.runtime.daemon_names import NODE

CONNECT_LIMIT = 5.0
#: A body of so many bytes at most is sent in one piece.
SMALL = 64 * 1024
#: What the system says of an address that nobody has.
NOBODY_THERE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ETIMEDOUT)


class AnswerTooLong(Exception):
    """A node sends more than the call admits."""


class _Body(Protocol):
    """Collects a body up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self.done: Deferred[bytes] = Deferred(canceller=lambda _: self._hang_up())

    def dataReceived(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > self._limit and not self.done.called:
            self.done.errback(Failure(AnswerTooLong(f"more than {self._limit} bytes")))
            self._hang_up()

    def _hang_up(self) -> None:
        """Abort: a polite close waits for a node that may never stop sending. Twisted hides the transport from bodies."""
        self._data.clear()
        transport: Any = getattr(self.transport, "_producer", None) or self.transport
        abort = getattr(transport, "abortConnection", None) or transport.loseConnection
        abort()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if self.done.called:
            return
        if reason.check(ResponseDone):
            self.done.callback(bytes(self._data))
        else:
            self.done.errback(reason)


@implementer(IBodyProducer)
@frozen
class _SmallBody:
    """A body that goes out in one piece; most calls are some hundred bytes."""

    data: bytes

    @property
    def length(self) -> int:
        """In bytes."""
        return len(self.data)

    def startProducing(self, consumer: Any) -> "Deferred[None]":
        """All at once."""
        consumer.write(self.data)
        return succeed(None)

    def pauseProducing(self) -> None:
        """There is no more."""

    def resumeProducing(self) -> None:
        """There is no more."""

    def stopProducing(self) -> None:
        """There is no more."""


def _producer(body: bytes) -> Any:
    """A long body goes out as fast as it is taken."""
    return _SmallBody(body) if len(body) <= SMALL else FileBodyProducer(BytesIO(body))


def _too_late(result: object, limit: float) -> Failure:
    """Whatever the cut-off exchange ended with, it ended because of the time limit."""
    return Failure(TimeoutError(limit))


@implementer(INodeRpc)
@define
class HttpNodeRpc:
    """Calls nodes through an Agent, which holds the connections and the TLS identity.

    @ivar start_anew: has the agent make new connections.
    """

    agent: IAgent
    clock: IReactorTime
    port: int = NODE_PORT
    start_anew: Callable[[], None] | None = None

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        if node.offline:
            raise NodeOfflineError(f"node {node.name} is marked offline; {call.name} was not sent")
        body = encode_call(call)
        limit = timeout if timeout is not None else call.time_limit()
        exchange = Deferred.fromCoroutine(self._exchange(node, call, body))
        exchange.addTimeout(limit, self.clock, onTimeoutCancel=_too_late)
        try:
            data = await exchange
        except TimeoutError:
            raise NodeUnreachableError(
                f"node {node.name} did not answer {call.name} within {limit:.0f} s",
                f"did not answer within {limit:.0f} s",
            )
        except AnswerTooLong as error:
            raise NodeUnreachableError(f"node {node.name} answers {call.name} with {error}")
        return decode_answer(node.name, call, data)

    async def _exchange(self, node: Target, call: NodeCall[object], body: bytes) -> bytes:
        url = f"https://{host_port(node.primary_ip, self.port)}/{call.name}".encode()
        try:
            code, data = await self._ask(url, call, body)
            if code == HTTPStatus.FORBIDDEN and self.start_anew is not None:
                # nothing was begun; the certificate with which the connection was made may have been replaced meanwhile
                self.start_anew()
                code, data = await self._ask(url, call, body)
        except (CancelledError, AnswerTooLong):
            raise
        except Exception as error:
            if was_cancelled(error):
                raise CancelledError from None
            raise NodeUnreachableError(
                f"cannot reach node {node.name} ({node.primary_ip}) for {call.name}: {reason(error)}", reason(error)
            )
        if code != HTTPStatus.OK:
            text = data[:500].decode("utf-8", "replace").strip()
            kind = BY_STATUS.get(code, CallRefused)
            words = f"{text}{ADVICE.get(kind, '')}"
            raise NodeCallError(f"node {node.name} refused {call.name} with HTTP status {code}: {words}", kind(words))
        return data

    async def _ask(self, url: bytes, call: NodeCall[object], body: bytes) -> tuple[int, bytes]:
        """One exchange: the status, and what came with it."""
        headers = Headers({"Content-Type": [CONTENT_TYPE]})
        response: IResponse = await self.agent.request(b"POST", url, headers, _producer(body))
        answer = _Body(call.max_response)
        response.deliverBody(answer)
        return response.code, await answer.done

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says."""
        return await on_each(nodes, lambda node: self.call(node, call, timeout))


def was_cancelled(error: BaseException) -> bool:
    """Whether an exchange ended because we cut it off; the HTTP client wraps that in what it was doing."""
    inner = getattr(error, "reasons", None) or ()
    return isinstance(error, CancelledError) or any(was_cancelled(failure.value) for failure in inner)


def reason(error: Exception) -> str:
    """One line out of what the HTTP client wraps."""
    inner = getattr(error, "reasons", None)
    if isinstance(error, ConnectionRefusedError):
        return f"its node daemon does not run; start it there with '{DaemonControl.here().command('start', NODE)}'"
    if isinstance(error, ConnectTimeout) or getattr(error, "osError", None) in NOBODY_THERE:
        return (
            "nothing answers at its address; while it is down, 'gnt-node modify --offline=yes' has it left out (--force, if it"
            " is the primary node of instances)"
        )
    if isinstance(error, ConnectionDone | ConnectionLost):
        return "the connection broke off before it answered; what it has done by then is not known"
    if isinstance(error, ResponseFailed) or inner:
        for failure in inner or ():
            return reason(failure.value)
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
