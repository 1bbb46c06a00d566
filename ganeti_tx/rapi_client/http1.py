"""HTTP/1.1 as bytes, without any I/O: writing a request, reading its response as the bytes come (RFC 9112)."""

import re
from collections.abc import Callable

from ganeti_tx.rapi_client.errors import AnswerError, NoAnswerError, shortened
from ganeti_tx.rapi_client.message import Message
from ganeti_tx.rapi_client.server import Server

#: Bytes of the status line with all headers.
LARGEST_HEAD = 64 * 1024
_LONGEST_LINE = 1024
_STATUS = re.compile(r"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: .*)?")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: What no value may have.
_CONTROL = re.compile(r"[\0\r\n]")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")
_NO_BODY = (204, 304)


def request_bytes(server: Server, message: Message) -> bytes:
    """A request as it is sent."""
    lines = [f"{message.method} {message.target} HTTP/1.1", f"Host: {server.netloc}"]
    lines += [f"{name}: {value}" for name, value in server.headers(message)]
    if message.body is not None or message.method in ("PUT", "POST"):
        lines.append(f"Content-Length: {len(message.body or b'')}")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + (message.body or b"")


class Response:
    """One response, fed with the bytes that come.

    After each `feed` the new bytes of its body are in the return value; `started` says whether status and headers are
    there, `ended` whether the body is complete.
    """

    def __init__(self) -> None:
        self.status = 0
        #: By lower-case name; of repeated ones the values are joined by commas.
        self.headers: dict[str, str] = {}
        self.started = False
        self.ended = False
        #: Whether the connection can be used again.
        self.reusable = False
        #: Bytes, which leave it at its front without the rest being copied.
        self._buffer = bytearray()
        self._step: Callable[[], bytes | None] = self._head
        #: Bytes of the body, or of the chunk with the line end after it, that have not come yet.
        self._left = 0

    def feed(self, data: bytes) -> bytes:
        """Take in what came; the bytes of the body among it. @raise AnswerError: it is no HTTP response."""
        self._buffer += data
        body = []
        while not self.ended:
            found = self._step()
            if found is None:
                break
            body.append(found)
        if self.ended and self._buffer:
            raise AnswerError("The server sent more than one answer to one request")
        return b"".join(body)

    def closed(self) -> None:
        """The server has closed the connection. @raise NoAnswerError: the response was not complete."""
        if self.started and self._step == self._until_closed:
            self.ended = True
        if not self.ended:
            raise NoAnswerError("The server closed the connection before its answer was complete")

    def _head(self) -> bytes | None:
        head = self._until(b"\r\n\r\n", LARGEST_HEAD)
        if head is None:
            return None
        status, *lines = head.decode("latin-1").split("\r\n")
        parts = _STATUS.fullmatch(status)
        if parts is None:
            raise AnswerError(f"The server does not speak HTTP/1.1: {shortened(status)}")
        self.status = int(parts[2])
        self.headers = _headers(lines)
        if self.status >= 200:  # others only announce the real one
            self.started = True
            self.reusable = parts[1] == "1" and "close" not in self.headers.get("connection", "").lower()
            self._choose_body()
        return b""

    def _choose_body(self) -> None:
        encoding, length = self.headers.get("transfer-encoding"), self.headers.get("content-length")
        if self.status in _NO_BODY:
            self.ended = True
        elif encoding is not None:
            if encoding.lower() != "chunked" or length is not None:
                raise AnswerError(f"The length of the answer is not clear: Transfer-Encoding {shortened(encoding)}")
            self._step = self._chunk_size
        elif length is not None:
            if not (length.isascii() and length.isdigit() and len(length) < 16):
                raise AnswerError(f"The length of the answer is not a number: {shortened(length)}")
            self._left = int(length)
            self.ended = self._left == 0
            self._step = self._counted
        else:
            self.reusable = False
            self._step = self._until_closed

    def _take(self, size: int) -> bytes:
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._left -= len(found)
        return found

    def _until(self, mark: bytes, most: int) -> bytes | None:
        """What is before the mark, which goes too; None when it has not come yet. @raise AnswerError"""
        end = self._buffer.find(mark)
        if (end if end >= 0 else len(self._buffer)) > most:
            raise AnswerError(f"The answer has more than {most} bytes before a line end where one is due")
        if end < 0:
            return None
        found = bytes(self._buffer[:end])
        del self._buffer[: end + len(mark)]
        return found

    def _counted(self) -> bytes | None:
        found = self._take(self._left)
        self.ended = self._left == 0
        return found or None

    def _until_closed(self) -> bytes | None:
        return self._take(len(self._buffer)) or None

    def _line(self) -> bytes | None:
        return self._until(b"\r\n", _LONGEST_LINE)

    def _chunk_size(self) -> bytes | None:
        line = self._line()
        if line is None:
            return None
        size = _SIZE.fullmatch(line)
        if size is None:
            raise AnswerError(f"The answer has a part of no clear size: {shortened(line)}")
        self._left = int(size[1], 16)
        self._step = self._chunk if self._left else self._trailer
        return b""

    def _chunk(self) -> bytes | None:
        if self._left:
            return self._take(self._left) or None
        line = self._line()
        if line is None:
            return None
        if line:
            raise AnswerError("A part of the answer is longer than was announced")
        self._step = self._chunk_size
        return b""

    def _trailer(self) -> bytes | None:
        line = self._line()
        if line is None:
            return None
        self.ended = not line
        return b""


def _headers(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        # no pattern for all of it: one that skips spaces at both ends takes hours for a line full of them
        name, colon, value = line.partition(":")
        if not colon or not _NAME.fullmatch(name) or _CONTROL.search(value):
            raise AnswerError(f"The answer has a header that cannot be read: {shortened(line)}")
        name, value = name.lower(), value.strip(" \t")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found
