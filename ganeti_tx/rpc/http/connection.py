"""One connection to a node, over which requests and their answers go, one after the other."""

import socket
from collections.abc import Callable
from typing import Any

from attrs import define
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure

from ganeti_tx.rpc.http.answer import Answer, AnswerReader
from ganeti_tx.rpc.http.arrival import is_unheard
from ganeti_tx.rpc.http.errors import AnswerTooLong, BadAnswer, Unheard
from ganeti_tx.rpc.http.paced_body import PacedBody

#: A body of so many bytes at most is sent in one piece with its head; most calls are some hundred bytes.
SMALL = 64 * 1024
#: A node from which nothing is heard for so many seconds is asked for a sign of life, so often and so many times. One that has
#: booted meanwhile says at the first that it knows nothing of the connection, which is not used for a call then.
SILENCE = 5
SIGN_INTERVAL = 5
SIGNS = 11
#: Milliseconds until what was sent must have arrived: the kernel asks for no life while something is under way.
ARRIVAL_LIMIT = 1000 * (SILENCE + SIGNS * SIGN_INTERVAL)
#: Seconds until a request must have begun to arrive, about as long as a new connection may take: on one that was kept open it
#: may be the first to find that the machine is gone. A call that has arrived is not given up so soon.
ARRIVES_WITHIN = 6.0
#: The least time without an acknowledgement that tells so: one of what was there before may have come in between.
_UNHEARD = 0.9


@define(eq=False)
class Exchange:
    """A request that went out, and its answer as far as it has come."""

    reader: AnswerReader
    done: "Deferred[Answer]"
    arriving: IDelayedCall
    sending: PacedBody | None = None

    @property
    def is_sent(self) -> bool:
        """Whether all of the request has been handed over."""
        return self.sending is None or self.sending.is_out


class NodeConnection(Protocol):
    """Finds out that a machine is gone, too: one that lost its power says nothing, and some calls may take a day.

    A connection with an answer that was cut off, was too long or was none is not used again, nor one on which a node speaks
    unasked.
    """

    transport: Any

    def __init__(
        self,
        unused: "Callable[[NodeConnection], None]",
        lost: "Callable[[NodeConnection], None]",
        clock: IReactorTime,
        arrives_within: float = ARRIVES_WITHIN,
    ) -> None:
        """@param unused: hears that another request may be made. @param lost: hears that none can be made any more."""
        self._unused, self._lost = unused, lost
        self._clock, self._arrives_within = clock, arrives_within
        self._exchange: Exchange | None = None

    def connectionMade(self) -> None:
        ask_for_life(self.transport)

    def ask(self, head: bytes, body: bytes, limit: int) -> "Deferred[Answer]":
        """Send a request, while no other is under way; who cancels it hangs up. It fails with Unheard when nothing of it arrives.

        @param limit: bytes that the body of the answer may have.
        """
        assert self._exchange is None, "one request at a time"
        done: Deferred[Answer] = Deferred(canceller=lambda _: self._abandon())
        arriving = self._clock.callLater(self._arrives_within, self._look)
        self._exchange = Exchange(AnswerReader(limit), done, arriving)
        if len(body) <= SMALL:
            self.transport.write(head + body)
        else:
            self.transport.write(head)
            self._exchange.sending = PacedBody(self.transport, memoryview(body))
            self._exchange.sending.start()
        return done

    def dataReceived(self, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None:
            self.abort()
            return
        try:
            answer = exchange.reader.feed(data)
        except (BadAnswer, AnswerTooLong) as error:
            self._abandon()
            exchange.done.errback(error)
            return
        if answer is None:
            return
        self._over()
        if exchange.reader.reusable and exchange.is_sent:
            self._unused(self)
        else:
            self.abort()
        exchange.done.callback(answer)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self._lost(self)
        if (exchange := self._over()) is not None:
            exchange.done.errback(reason)

    def _look(self) -> None:
        """The request should have begun to arrive."""
        if (
            is_unheard(self.transport.socket, _UNHEARD * self._arrives_within)
            and (exchange := self._over()) is not None
        ):
            self.abort()
            exchange.done.errback(Unheard())

    def _over(self) -> Exchange | None:
        """Nothing is under way any more; what was."""
        exchange, self._exchange = self._exchange, None
        if exchange is not None and exchange.arriving.active():
            exchange.arriving.cancel()
        return exchange

    def _abandon(self) -> None:
        self._over()
        self.abort()

    def abort(self) -> None:
        """Hang up at once: a polite close waits for a node that may never stop sending."""
        self.transport.abortConnection()


def ask_for_life(transport: Any) -> None:
    """Have the kernel ask the other end for signs of life when it is silent; the connection breaks when there are none.

    It breaks as well when what is sent does not arrive: a call on a connection that was kept open may be the first to notice.
    """
    transport.setTcpKeepAlive(True)
    found: socket.socket = transport.socket
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENCE)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, SIGN_INTERVAL)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, SIGNS)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, ARRIVAL_LIMIT)
