"""A client's side of one connection without any socket: one request at a time, its answer whole or as it comes.

Built on txaio, so that the same code runs on Twisted and on asyncio; on_twisted.py and on_asyncio.py have the sockets.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ganeti_tx.rapi.client.connect_errors import silent
from ganeti_tx.rapi.client.errors import ClientError, NoAnswerError
from ganeti_tx.rapi.client.http1 import request_bytes
from ganeti_tx.rapi.client.message import Message
from ganeti_tx.rapi.client.reading import WholeReply
from ganeti_tx.rapi.client.server import Server


class Link(NamedTuple):
    """What is done to a connection, safe to do when it is gone; and its clock, which returns what has a cancel()."""

    write: Callable[[bytes], None]
    abort: Callable[[], None]
    call_later: Callable[[float, Callable[[], None]], Any]


class Conversation:
    """Open until it is lost, ended or the server does not keep it."""

    def __init__(self, framework: Any, link: Link, server: Server) -> None:
        """`framework` is txaio's interface for Twisted or asyncio: it makes and settles the futures."""
        self._framework = framework
        self._link = link
        self._server = server
        self._answer: Any = None
        self._whole: WholeReply | None = None
        self._deadline: Any = None
        self.open = True

    def ask(self, message: Message) -> Any:
        """Send a request; a future of the framework with the Reply. The last one must have been answered.

        @raise NoAnswerError: the connection has gone.
        """
        data = request_bytes(self._server, message)
        if not self.open:
            raise NoAnswerError("The connection was closed before the request was sent")
        self._answer = self._framework.create_future()
        self._whole = WholeReply(self._server.largest_answer)
        self._deadline = self._link.call_later(self._server.answer_timeout, self._too_late)
        self._link.write(data)
        return self._answer

    def received(self, data: bytes) -> None:
        """Take in what came over the connection."""
        if not self.open:
            return
        if self._whole is None:
            return self.end(NoAnswerError("The server sent what nobody had asked for"))
        try:
            if self._whole.feed(data):
                self._answered(self._whole)
        except ClientError as error:
            self.end(error)

    def lost(self, error: ClientError | None = None) -> None:
        """The connection is gone."""
        if not self.open:
            return
        if error is None and self._whole is not None:
            self.received(b"")  # the end of an answer without length
        self.end(error or NoAnswerError("The connection was closed"))

    def end(self, error: ClientError) -> None:
        """Abort the connection; a request without an answer fails with the error."""
        if not self.open:
            return
        self.open = False
        self._stop_deadline()
        self._link.abort()
        self._whole = None
        if self._answer is not None and not self._framework.is_called(self._answer):
            self._framework.reject(self._answer, error)

    def _answered(self, whole: WholeReply) -> None:
        self._stop_deadline()
        self._whole = None
        if not whole.response.reusable:
            self.open = False
            self._link.abort()
        if not self._framework.is_called(self._answer):
            self._framework.resolve(self._answer, whole.reply)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        self.end(silent(self._server, self._server.answer_timeout))
