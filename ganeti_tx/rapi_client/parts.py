"""An answer without an end, taken part by part, no faster than somebody takes it."""

from collections import deque
from typing import Any

from ganeti_tx.rapi_client.errors import AnswerError, ClientError, shortened
from ganeti_tx.rapi_client.http1 import Response
from ganeti_tx.rapi_client.link import Link
from ganeti_tx.rapi_client.message import Reply
from ganeti_tx.rapi_client.request import checked
from ganeti_tx.sse import CONTENT_TYPE

#: Bytes that wait to be taken before no more is read.
MOST_WAITING = 256 * 1024
#: Bytes of the body of an error.
_LARGEST_ERROR = 64 * 1024


class StreamedReply:
    """Gives the body of a successful answer as it comes; of another one the error."""

    def __init__(self) -> None:
        self.response = Response()
        self._error = b""

    def feed(self, data: bytes) -> bytes:
        """Take in what came (nothing: the connection was closed); the bytes of the body.

        @raise RapiError: the server answered with an error.
        @raise AnswerError, NoAnswerError: it is no stream of events, or none any more.
        """
        part = self.response.feed(data) if data else b""
        if not data:
            self.response.closed()
        if not self.response.started:
            return b""
        if self.response.status < 300:
            self._check_type()
            return part
        self._error += part
        if len(self._error) > _LARGEST_ERROR:
            raise AnswerError("The body of an error is too long")
        if self.response.ended:
            checked(Reply(self.response.status, self.response.headers, self._error))
        return b""

    def _check_type(self) -> None:
        sent = self.response.headers.get("content-type", "")
        if sent.partition(";")[0].strip().lower() != CONTENT_TYPE:
            raise AnswerError(f"The answer is of the type {shortened(sent)}, not {CONTENT_TYPE}")


class Parts:
    """A queue from a connection to who reads; txaio's `framework` makes the futures."""

    def __init__(self, framework: Any, link: Link) -> None:
        self._framework = framework
        self._link = link
        self._streamed = StreamedReply()
        self._ready: deque[bytes] = deque()
        self._size = 0
        self._waiting: Any = None
        self._complete = False
        self._error: ClientError | None = None

    def feed(self, data: bytes) -> bool:
        """As WholeReply says."""
        part = self._streamed.feed(data)
        if part:
            self._ready.append(part)
            self._size += len(part)
            if self._size > MOST_WAITING:
                self._link.pause()
        self._complete = self._streamed.response.ended
        self._wake()
        return self._complete

    def fail(self, error: ClientError) -> None:
        """Nothing more comes."""
        self._error = self._error or error
        self._wake()

    async def next(self) -> bytes | None:
        """The next bytes; None at the end. @raise ClientError: there are none."""
        while not self._ready:
            if self._complete:
                return None
            if self._error is not None:
                raise self._error
            self._waiting = self._framework.create_future()
            await self._waiting
        part = self._ready.popleft()
        self._size -= len(part)
        if not self._ready:
            self._link.resume()
        return part

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not self._framework.is_called(waiting):
            self._framework.resolve(waiting, None)
