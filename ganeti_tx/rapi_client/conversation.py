"""A client's side of one connection without any socket: one request at a time, its answer whole or as it comes.

Built on txaio, so that the same code runs on Twisted and on asyncio; on_twisted.py and on_asyncio.py have the sockets.
"""

from typing import Any

from ganeti_tx.rapi_client.connect_errors import silent
from ganeti_tx.rapi_client.errors import ClientError, NoAnswerError
from ganeti_tx.rapi_client.http1 import request_bytes
from ganeti_tx.rapi_client.link import Link
from ganeti_tx.rapi_client.message import Message
from ganeti_tx.rapi_client.parts import Parts
from ganeti_tx.rapi_client.reading import WholeReply
from ganeti_tx.rapi_client.server import Server


class Conversation:
    """Open until it is lost, ended or the server does not keep it."""

    def __init__(self, framework: Any, link: Link, server: Server) -> None:
        """`framework` is txaio's interface for Twisted or asyncio: it makes and settles the futures."""
        self._framework = framework
        self._link = link
        self._server = server
        self._answer: Any = None
        self._reading: WholeReply | Parts | None = None
        self._deadline: Any = None
        self.open = True

    @property
    def usable(self) -> bool:
        """Whether it can be asked, by who looks."""
        return self.open and self._link.here()

    def ask(self, message: Message) -> Any:
        """Send a request; a future of the framework with the Reply. The last one must have been answered.

        @raise NoAnswerError: the connection has gone.
        """
        data = request_bytes(self._server, message)
        if not self.open:
            raise NoAnswerError("The connection was closed before the request was sent")
        self._answer = self._framework.create_future()
        self._reading = WholeReply(self._server.largest_answer)
        self._start_deadline(self._server.answer_timeout)
        self._link.write(data)
        return self._answer

    def follow(self, message: Message) -> Parts:
        """Send a request whose answer is taken as it comes; the connection is for nothing else any more."""
        parts = Parts(self._framework, self._link)
        self._reading = parts
        self._start_deadline(self._server.silence_timeout)
        self._link.write(request_bytes(self._server, message))
        return parts

    def received(self, data: bytes) -> None:
        """Take in what came over the connection."""
        if not self.open:
            return
        reading = self._reading
        if reading is None:
            return self.end(NoAnswerError("The server sent what nobody had asked for"))
        try:
            complete = reading.feed(data)
        except ClientError as error:
            return self.end(error)
        if not self.open:
            return  # who reads has left meanwhile
        if isinstance(reading, Parts):
            self._start_deadline(self._server.silence_timeout)
            if complete:
                self.end(NoAnswerError("The stream has ended"))
        elif complete:
            self._answered(reading)

    def lost(self, error: ClientError | None = None) -> None:
        """The connection is gone."""
        if not self.open:
            return
        if error is None and self._reading is not None:
            self.received(b"")  # the end of an answer without length
        self.end(error or NoAnswerError("The connection was closed"))

    def end(self, error: ClientError) -> None:
        """Abort the connection; a request without an answer fails with the error."""
        if not self.open:
            return
        self.open = False
        self._stop_deadline()
        self._link.abort()
        if isinstance(self._reading, Parts):
            self._reading.fail(error)
        self._reading = None
        if self._answer is not None and not self._framework.is_called(self._answer):
            self._framework.reject(self._answer, error)

    def _answered(self, whole: WholeReply) -> None:
        self._stop_deadline()
        self._reading = None
        if not whole.response.reusable:
            self.open = False
            self._link.abort()
        if not self._framework.is_called(self._answer):
            self._framework.resolve(self._answer, whole.reply)

    def _start_deadline(self, seconds: float) -> None:
        self._stop_deadline()
        self._deadline = self._link.call_later(seconds, lambda: self._too_late(seconds))

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self, seconds: float) -> None:
        self._deadline = None
        self.end(silent(self._server, seconds))
