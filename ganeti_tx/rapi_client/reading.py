"""A whole answer, gathered up to a size."""

from ganeti_tx.rapi_client.errors import AnswerError
from ganeti_tx.rapi_client.http1 import Response
from ganeti_tx.rapi_client.message import Reply


class WholeReply:
    """Gathers one response's bytes. @raise AnswerError: from `feed`, it is longer than it may be."""

    def __init__(self, limit: int) -> None:
        self.response = Response()
        self._limit = limit
        self._size = 0
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> bool:
        """Take in what came (nothing: the connection was closed); whether it is complete now."""
        if not data:
            self.response.closed()
        else:
            part = self.response.feed(data)
            self._size += len(part)
            if self._size > self._limit:
                raise AnswerError(f"The answer is longer than {self._limit} bytes")
            self._parts.append(part)
        return self.response.ended

    @property
    def reply(self) -> Reply:
        """What was gathered."""
        return Reply(self.response.status, self.response.headers, b"".join(self._parts))
