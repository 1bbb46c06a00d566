"""A client's side of one connection without any socket: answers go, in order, to whom they belong.

Built on txaio, so that the same code runs on Twisted and on asyncio; on_twisted.py and on_asyncio.py have the sockets.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.answers import result_of
from ganeti_tx.luxi.framing import MAX_RESPONSE, FrameBuffer, FrameTooLong, Message
from ganeti_tx.luxi.transport_errors import ConnectionClosedError, ProtocolError, TimeoutError


class Link(NamedTuple):
    """What is done to a connection, safe to do when it is gone; and its clock, which returns what has a cancel()."""

    write: Callable[[bytes], None]
    abort: Callable[[], None]
    call_later: Callable[[float, Callable[[], None]], Any]


class Conversation:
    """Requests sent and not yet answered, oldest first.

    Each has its time from the moment it is the oldest, as the server answers one after the other. Who stops waiting
    keeps the place, so that the answer of one request never goes to another.
    """

    def __init__(
        self, framework: Any, link: Link, answer_timeout: float, read: Callable[[Message], Any] = result_of
    ) -> None:
        """`framework` is txaio's interface for Twisted or asyncio: it makes and settles the futures.

        @param read: makes of an answer what the asker gets, or raises a GanetiError.
        """
        self._framework = framework
        self._link = link
        self._answer_timeout = answer_timeout
        self._read = read
        self._buffer = FrameBuffer(MAX_RESPONSE)
        self._unanswered: deque[Any] = deque()
        self._deadline: Any = None
        self.open = True

    def ask(self, message: bytes) -> Any:
        """Send a framed request; a future of the framework with the result or the error.

        @raise ConnectionClosedError: the connection has gone.
        """
        if not self.open:
            raise ConnectionClosedError("The connection was closed before the request was sent")
        future = self._framework.create_future()
        self._link.write(message)
        self._unanswered.append(future)
        if len(self._unanswered) == 1:
            self._restart_deadline()
        return future

    def received(self, data: bytes) -> None:
        """Take in what came over the connection."""
        if not self.open:
            return
        try:
            for message in self._buffer.feed(data):
                self._answered(message)
        except FrameTooLong as error:
            self.end(ProtocolError(f"The answer cannot be read: {error}"))

    def lost(self) -> None:
        """The connection is gone."""
        self.end(ConnectionClosedError("The connection was closed before the answer had come"))

    def end(self, error: GanetiError) -> None:
        """Abort the connection; every request without an answer fails with the error."""
        if not self.open:
            return
        self.open = False
        self._stop_deadline()
        self._link.abort()
        while self._unanswered:
            self._settle(self._unanswered.popleft(), error)

    def _answered(self, message: Message) -> None:
        if not self._unanswered:
            return self.end(ProtocolError("The server answered what nobody had asked"))
        future = self._unanswered.popleft()
        self._restart_deadline()
        try:
            result = self._read(message)
        except GanetiError as error:
            return self._settle(future, error)
        if not self._framework.is_called(future):
            self._framework.resolve(future, result)

    def _settle(self, future: Any, error: GanetiError) -> None:
        if not self._framework.is_called(future):
            self._framework.reject(future, error)

    def _restart_deadline(self) -> None:
        self._stop_deadline()
        if self._unanswered:
            self._deadline = self._link.call_later(self._answer_timeout, self._too_late)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        self.end(TimeoutError(f"No answer within {self._answer_timeout:g} seconds"))
