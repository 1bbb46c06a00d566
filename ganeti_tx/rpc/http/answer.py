"""Reading one answer as its bytes come, without any I/O."""

from typing import NamedTuple

from ganeti_tx.rpc.http.chunks import Chunks
from ganeti_tx.rpc.http.errors import AnswerTooLong, BadAnswer, shown
from ganeti_tx.rpc.http.head import END, HEAD_LIMIT, Head, could_begin, read


class Answer(NamedTuple):
    """The status, and what came with it."""

    status: int
    body: bytes


class AnswerReader:
    """One answer. Not more than `limit` bytes of a body are kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head: Head | None = None
        self._chunks: Chunks | None = None
        self._data = bytearray()
        #: Whether another request may go out on the connection, once the answer is there.
        self.reusable = False

    def feed(self, data: bytes) -> Answer | None:
        """The answer, with the last bytes of it. @raise BadAnswer: it is none. @raise AnswerTooLong"""
        if self._head is not None:
            return self._more(data)
        self._data += data
        end = self._data.find(END)
        if end < 0 or end > HEAD_LIMIT:
            if len(self._data) > HEAD_LIMIT or not could_begin(self._data):
                raise BadAnswer(f"it does not answer as a node daemon does: {shown(bytes(self._data))}")
            return None
        self._head = read(bytes(self._data[:end]))
        behind = bytes(self._data[end + len(END) :])
        self._data = bytearray()
        if self._head.length is not None and self._head.length > self._limit:
            raise AnswerTooLong(self._limit)
        if self._head.chunked:
            self._chunks = Chunks()
        return self._more(behind)

    def _more(self, data: bytes) -> Answer | None:
        """Some of the body, and what is behind it; nothing should be."""
        assert self._head is not None, "the body comes behind the head"
        self._data += data if self._chunks is None else self._chunks.feed(data)
        if (length := self._head.length) is not None and len(self._data) >= length:
            return self._whole(bytes(self._data[:length]), len(self._data) > length)
        if len(self._data) > self._limit:
            raise AnswerTooLong(self._limit)
        if self._chunks is not None and self._chunks.rest is not None:
            return self._whole(bytes(self._data), bool(self._chunks.rest))
        return None

    def _whole(self, body: bytes, too_much: bool) -> Answer:
        assert self._head is not None, "the body comes behind the head"
        self.reusable = not (self._head.closes or too_much)
        return Answer(self._head.status, body)
