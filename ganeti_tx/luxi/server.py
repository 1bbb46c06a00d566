"""The server's end of LUXI, and of any protocol with the same frames and messages: it translates, and knows no cluster.

What one client can do to the others is bounded: the length of a request, the requests it has under way, the answers it
leaves unread, the time it says nothing, and the number of connections.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol as Structural
from typing import cast

from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IAddress, IDelayedCall, IPushProducer, IReactorTime
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.framing import MAX_REQUEST, FrameBuffer, FrameTooLong, frame
from ganeti_tx.luxi.methods import METHODS, MethodTable
from ganeti_tx.luxi.peer import Peer, peer_of
from ganeti_tx.luxi.server_messages import (
    UnreadableRequest,
    decode_request,
    encode_failure,
    encode_internal_error,
    encode_refusal,
    encode_result,
)
from ganeti_tx.luxi.timeouts import SERVER_IDLE

#: Called with the method's name, its checked arguments and the peer; what it returns, or raises, is the answer.
Dispatch = Callable[[str, list[object], Peer | None], Awaitable[object]]


@frozen
class Limits:
    """What a server takes: sizes in bytes, times in seconds.

    `waiting` requests of `waiting_size` together may be queued behind the one being answered; only then does reading
    stop. Up to there it goes on, since a server that does not read does not see that the client has gone away.
    """

    request: int = MAX_REQUEST
    connections: int = 256
    waiting: int = 16
    waiting_size: int = 1024 * 1024
    idle: float = SERVER_IDLE
    unread: float = SERVER_IDLE


class _Wire(Structural):
    """What is used of a stream transport; Twisted has no one interface for it."""

    def write(self, data: bytes) -> None: ...
    def loseConnection(self) -> None: ...
    def abortConnection(self) -> None: ...
    def pauseProducing(self) -> None: ...
    def resumeProducing(self) -> None: ...
    def registerProducer(self, producer: IPushProducer, streaming: bool) -> None: ...
    def unregisterProducer(self) -> None: ...


@implementer(IPushProducer)
class LuxiProtocol(Protocol):
    """One connection. Requests are answered one by one in their order, as there are no request ids."""

    factory: "LuxiFactory"
    _wire: _Wire
    _log = Logger()

    def __init__(self, dispatch: Dispatch, clock: IReactorTime, methods: MethodTable, limits: Limits) -> None:
        self._dispatch = dispatch
        self._clock = clock
        self._methods = methods
        self._limits = limits
        self._buffer = FrameBuffer(limits.request)
        self._waiting: deque[bytes] = deque()
        self._too_long: FrameTooLong | None = None
        self._work: Deferred[None] | None = None
        self._drained: Deferred[None] | None = None
        self._deadline: IDelayedCall | None = None
        self._reading = True
        self._closing = False
        self._lost = False
        self._peer: Peer | None = None

    def connectionMade(self) -> None:
        assert self.transport is not None
        self._wire = cast(_Wire, self.transport)
        self._peer = peer_of(self.transport)
        self._wire.registerProducer(self, True)
        self._limit(self._limits.idle, self._close_idle)
        self.factory.connected(self)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Whatever was being done for this client is cancelled."""
        self._lost = True
        self._waiting.clear()
        self._clear_limit()
        self.factory.disconnected(self)
        if self._work is not None:
            self._work.cancel()

    def dataReceived(self, data: bytes) -> None:
        if self._closing or self._too_long is not None:
            return
        try:
            for message in self._buffer.feed(data):
                self._waiting.append(message)
        except FrameTooLong as error:
            self._too_long = error
        self._start_work()
        self._read_or_pause()

    def _read_or_pause(self) -> None:
        full = len(self._waiting) > self._limits.waiting or sum(map(len, self._waiting)) > self._limits.waiting_size
        reading = not (full or self._closing or self._too_long)
        if reading != self._reading and not self._lost:
            self._reading = reading
            (self._wire.resumeProducing if reading else self._wire.pauseProducing)()

    # The three below are called by the transport, about what we write.

    def pauseProducing(self) -> None:
        """The client is slower than we are: wait for it, but not for ever."""
        if self._drained is None:
            self._drained = Deferred()
            self._limit(self._limits.unread, self._drop_unread)

    def resumeProducing(self) -> None:
        drained, self._drained = self._drained, None
        if drained is not None:
            self._clear_limit()
            drained.callback(None)

    def stopProducing(self) -> None:
        """The transport is gone; connectionLost says the rest."""

    def _start_work(self) -> None:
        if self._work is None and (self._waiting or self._too_long is not None):
            self._clear_limit()
            work = self._work = Deferred.fromCoroutine(self._answer_all())
            work.addBoth(self._work_ended)

    def _work_ended(self, result: Failure | None) -> None:
        self._work = None
        if isinstance(result, Failure) and not (self._lost and isinstance(result.value, CancelledError)):
            self._log.failure("a connection failed", failure=result)
            self._wire.abortConnection()
        elif not self._lost and not self._closing:
            self._limit(self._limits.idle, self._close_idle)

    async def _answer_all(self) -> None:
        while self._waiting:
            message = self._waiting.popleft()
            try:
                answer = await self._answer(message)
            except UnreadableRequest as error:
                return self._refuse(str(error))
            await self._send(answer)
            self._read_or_pause()
        if self._too_long is not None and not self._lost:
            self._refuse(f"Cannot parse request: {self._too_long}")

    async def _send(self, answer: bytes) -> None:
        if not self._lost:
            self._wire.write(frame(answer))
        if self._drained is not None:
            await self._drained

    async def _answer(self, message: bytes) -> bytes:
        request = decode_request(message)
        try:
            args = self._methods[request.method].read(request.args)
        except GanetiError as error:
            return encode_failure(error)
        called = Deferred.fromCoroutine(self._call(request.method, args))
        return await called.addErrback(self._describe, request.method)

    async def _call(self, method: str, args: list[object]) -> bytes:
        return encode_result(await self._dispatch(method, args, self._peer))

    def _describe(self, failure: Failure, method: str) -> bytes:
        """The answer for an error; a cancellation goes on its way."""
        if isinstance(failure.value, CancelledError):
            raise failure.value
        if isinstance(failure.value, GanetiError):
            return encode_failure(failure.value)
        self._log.failure("unexpected error in {method}", failure=failure, method=method)
        return encode_internal_error()

    def _refuse(self, reason: str) -> None:
        """Say why and hang up; what else this client has sent is not looked at."""
        self._waiting.clear()
        self._wire.write(frame(encode_refusal(reason)))
        self.close()

    def close(self) -> None:
        """Hang up once what is written has been read, or the client has had its time for that."""
        self._closing = True
        self._read_or_pause()
        self._wire.unregisterProducer()
        self._limit(self._limits.unread, self._drop_unread)
        self._wire.loseConnection()

    def drop(self) -> None:
        """Hang up at once."""
        self._wire.abortConnection()

    def _limit(self, seconds: float, then: Callable[[], None]) -> None:
        self._clear_limit()
        self._deadline = self._clock.callLater(seconds, then)

    def _clear_limit(self) -> None:
        if self._deadline is not None and self._deadline.active():
            self._deadline.cancel()
        self._deadline = None

    def _close_idle(self) -> None:
        self._log.info("closing a connection that was idle for {seconds} seconds", seconds=self._limits.idle)
        self.close()

    def _drop_unread(self) -> None:
        self._log.info("dropping a client that has not read for {seconds} seconds", seconds=self._limits.unread)
        self._wire.abortConnection()


class _Refusal(Protocol):
    """The connection too many: told so, and closed."""

    def connectionMade(self) -> None:
        assert self.transport is not None
        self.transport.write(frame(encode_refusal("Too many connections, try again later")))
        self.transport.loseConnection()


class LuxiFactory(Factory):
    """Makes the protocol for each connection, up to the limit. `methods` is the table of the protocol spoken."""

    noisy = False

    def __init__(
        self,
        dispatch: Dispatch,
        clock: IReactorTime,
        *,
        methods: MethodTable = METHODS,
        limits: Limits | None = None,
    ) -> None:
        self._dispatch = dispatch
        self._clock = clock
        self._methods = methods
        self._limits = limits or Limits()
        self._open: set[LuxiProtocol] = set()

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._open)

    def buildProtocol(self, addr: IAddress | None) -> Protocol:
        if self.connections >= self._limits.connections:
            return _Refusal()
        protocol = LuxiProtocol(self._dispatch, self._clock, self._methods, self._limits)
        protocol.factory = self
        return protocol

    def connected(self, protocol: LuxiProtocol) -> None:
        """Count a connection in."""
        self._open.add(protocol)

    def disconnected(self, protocol: LuxiProtocol) -> None:
        """Count a connection out."""
        self._open.discard(protocol)

    def stopFactory(self) -> None:
        """The daemon ends: drop every connection, which cancels what is done for it."""
        for protocol in list(self._open):
            protocol.drop()
