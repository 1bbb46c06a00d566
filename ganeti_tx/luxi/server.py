"""The server's end of LUXI, and of any protocol with the same frames and messages: it translates, and knows no cluster.

What clients can do to others is bounded: the length of a request, the time it takes to come, the requests under way, the
answers left unread, the time nothing is said, and the number of connections; `places` sees to what all share.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol as Structural
from typing import cast

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IAddress, IDelayedCall, IPushProducer, IReactorTime
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.framing import FrameBuffer, FrameTooLong, Message, frame
from ganeti_tx.luxi.limits import Limits
from ganeti_tx.luxi.method_table import MethodTable
from ganeti_tx.luxi.methods import METHODS
from ganeti_tx.luxi.peer import Peer, peer_of
from ganeti_tx.luxi.places import Places
from ganeti_tx.luxi.request_bounds import weight
from ganeti_tx.luxi.server_messages import (
    UnreadableRequest,
    decode_request,
    encode_failure,
    encode_internal_error,
    encode_refusal,
    encode_result,
)

#: Called with the method's name, its checked arguments and the peer; what it returns, or raises, is the answer.
Dispatch = Callable[[str, list[object], Peer | None], Awaitable[object]]


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

    def __init__(
        self, dispatch: Dispatch, clock: IReactorTime, methods: MethodTable, limits: Limits, places: Places
    ) -> None:
        self._dispatch = dispatch
        self._clock = clock
        self._methods = methods
        self._limits = limits
        self._places = places
        self._buffer = FrameBuffer(limits.request)
        self._waiting: deque[Message] = deque()
        self._waiting_weight = 0
        self._too_long: FrameTooLong | None = None
        self._work: Deferred[None] | None = None
        self._answering = 0  # the room that the request under way takes
        self._gives_way = False  # whether its client loses nothing when it is broken off
        self._drained: Deferred[None] | None = None
        self._deadline: IDelayedCall | None = None
        self._since = 0.0
        self._served = False
        self._reading = True
        self._closing = False
        self._lost = False
        self._peer: Peer | None = None

    def connectionMade(self) -> None:
        assert self.transport is not None
        self._wire = cast(_Wire, self.transport)
        self._peer = peer_of(self.transport)
        self._wire.registerProducer(self, True)
        self._rest()
        refusal = self._places.join(self)
        if refusal is not None:
            self.refuse(refusal)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Whatever was being done for this client is cancelled."""
        self._lost = True
        self._forget_requests()
        self._clear_limit()
        self._places.left(self)
        if self._work is not None:
            self._work.cancel()

    def dataReceived(self, data: bytes) -> None:
        if self._closing or self._too_long is not None:
            return
        begins = self._buffer.unfinished == 0
        try:
            for message in self._buffer.feed(data):
                self._waiting.append(message)
                self._waiting_weight += weight(message)
        except FrameTooLong as error:
            self._too_long = error
        if begins and self._buffer.unfinished and self._work is None:
            self._rest()
        self._count_requests()
        self._start_work()
        self._read_or_pause()

    def _count_requests(self) -> None:
        """Tell how much room this client's requests take; it may turn out to be too much."""
        if not (self._lost or self._closing):
            held = self._buffer.unfinished + self._waiting_weight + self._answering
            self._places.holds_requests(self, held)

    def _forget_requests(self) -> None:
        self._waiting.clear()
        self._buffer.clear()
        self._waiting_weight = self._answering = 0
        self._places.requests.set(self, 0)

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
            self._since = self._clock.seconds()
            self._limit(self._limits.unread, self._drop_unread)

    def resumeProducing(self) -> None:
        drained, self._drained = self._drained, None
        if drained is not None:
            self._clear_limit()
            self._places.answers.set(self, 0)
            drained.callback(None)

    def stopProducing(self) -> None:
        """The transport is gone; connectionLost says the rest."""

    # Answering

    def _start_work(self) -> None:
        if self._work is None and not self._closing and (self._waiting or self._too_long is not None):
            self._clear_limit()
            work = self._work = Deferred.fromCoroutine(self._answer_all())
            work.addBoth(self._work_ended)

    def _work_ended(self, result: Failure | None) -> None:
        self._work = None
        if isinstance(result, Failure):
            if not ((self._lost or self._closing) and isinstance(result.value, CancelledError)):
                self._log.failure("a connection failed", failure=result)
                self._wire.abortConnection()
        elif not self._lost and not self._closing:
            self._rest()

    async def _answer_all(self) -> None:
        while self._waiting:
            while (pause := self._places.pause(self)) > 0:
                await deferLater(self._clock, pause)
            try:
                self._send(await self._answer(self._waiting.popleft()))
            except UnreadableRequest as error:
                return self._give_up(str(error))
            self._answering = 0
            self._gives_way = False
            self._served = True
            self._count_requests()
            if self._drained is not None:
                await self._drained
            self._read_or_pause()
        if self._too_long is not None and not self._lost:
            self._give_up(f"Cannot parse request: {self._too_long}")

    def _send(self, answer: bytes) -> None:
        if not self._lost:
            self._wire.write(frame(answer))
            if self._drained is not None:
                self._places.holds_answer(self, len(answer))

    async def _answer(self, message: Message) -> bytes:
        self._answering = weight(message)
        self._waiting_weight -= self._answering
        begun = self._clock.seconds()
        request = decode_request(message)
        del message  # what it says is in the request
        try:
            method = self._methods[request.method]
            args = method.read(request.args)
        except GanetiError as error:
            return encode_failure(error)
        self._gives_way = method.gives_way
        called = Deferred.fromCoroutine(self._call(request.method, args))
        self._places.share.spent(self.process, self._clock.seconds() - begun)
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

    # Its place among others

    @property
    def process(self) -> int | None:
        """As ConnectedClient says."""
        return None if self._peer is None else self._peer.pid

    def resting(self, now: float) -> float | None:
        """See ConnectedClient; one that does not read its answer rests too, and one that never asked has no right to its place."""
        if self._closing or self._gives_way:
            return now - self._since
        if self._work is not None and self._drained is None:
            return None
        rest = now - self._since
        return rest if rest >= self._limits.place or not self._served else None

    def leave(self) -> None:
        """As ConnectedClient says."""
        if self._closing or self._drained is not None:
            self.drop()
        else:
            self.close()

    def refuse(self, reason: str) -> None:
        """As ConnectedClient says."""
        self._give_up(reason)
        if self._work is not None:
            self._work.cancel()

    def _give_up(self, reason: str) -> None:
        """Say why and hang up; what else this client has sent is not looked at."""
        self._forget_requests()
        self.close(encode_refusal(reason))

    def close(self, last_word: bytes | None = None) -> None:
        """Hang up once what is written has been read, or the client has had its time for that."""
        self._closing = True
        self._read_or_pause()
        self._wire.unregisterProducer()
        self._limit(self._limits.unread, self._drop_unread)
        if last_word is not None:
            self._wire.write(frame(last_word))
        self._wire.loseConnection()

    def drop(self) -> None:
        """As ConnectedClient says."""
        self._wire.abortConnection()

    # Its time

    def _rest(self) -> None:
        """Wait for a request, or for the rest of one."""
        self._since = self._clock.seconds()
        if self._buffer.unfinished:
            self._limit(self._limits.frame, self._refuse_slow)
        else:
            self._limit(self._limits.idle, self._close_idle)

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

    def _refuse_slow(self) -> None:
        seconds = self._limits.frame
        self._log.info("refusing a client whose request had no end after {seconds} seconds", seconds=seconds)
        self.refuse(f"Cannot parse request: it had no end after {seconds:g} seconds")

    def _drop_unread(self) -> None:
        self._log.info("dropping a client that has not read for {seconds} seconds", seconds=self._limits.unread)
        self._wire.abortConnection()


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
        self._places = Places(self._limits, clock)

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._places)

    def buildProtocol(self, addr: IAddress | None) -> Protocol:
        protocol = LuxiProtocol(self._dispatch, self._clock, self._methods, self._limits, self._places)
        protocol.factory = self
        return protocol

    def stopFactory(self) -> None:
        """The daemon ends: drop every connection, which cancels what is done for it."""
        for client in list(self._places.clients):
            client.drop()
