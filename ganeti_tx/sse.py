"""Server-sent events (the WHATWG HTML standard, 9.2): written by the server, read by clients, without any I/O."""

import re
from collections.abc import Iterator

from attrs import define, field, frozen

CONTENT_TYPE = "text/event-stream"
#: Nobody sees it; it tells both ends that the other one is there.
COMMENT = b":\n\n"
#: Bytes of one line, and of the data of one event, that a reader takes.
MAX_LINE = MAX_DATA = 1024 * 1024

_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class SseError(ValueError):
    """What came is no such stream, or is larger than a reader takes."""


@frozen
class SseEvent:
    """One event; `id` is the last id that was sent up to and with it."""

    id: str
    event: str
    data: str


def event_bytes(id: str, event: str, data: bytes) -> bytes:
    """One event. @param data: text without line ends, such as JSON."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (id.encode(), event.encode(), data)


def id_bytes(id: str) -> bytes:
    """An id without an event: readers go on from there after a lost connection."""
    return b"id: %b\n\n" % id.encode()


def retry_bytes(milliseconds: int) -> bytes:
    """After how long readers shall connect again."""
    return b"retry: %d\n\n" % milliseconds


@define
class SseParser:
    """Bytes in, events out.

    @ivar last_id: send it as `Last-Event-ID` to go on after a lost connection. It may change without an event.
    @ivar retry: milliseconds to wait before that, if the server said so.
    """

    last_id: str = ""
    retry: int | None = None
    max_line: int = MAX_LINE
    max_data: int = MAX_DATA
    _pending: bytes = b""
    _begun: bool = False
    _id: str = field(default="")
    _event: str = ""
    _data: list[str] = field(factory=list)
    _size: int = 0

    def __attrs_post_init__(self) -> None:
        self._id = self.last_id

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that are complete now. @raise SseError: too large, or not UTF-8; nothing more can be read."""
        return [event for line in self._lines(data) if (event := self._line(line)) is not None]

    def lost(self) -> None:
        """The connection is lost: what is unfinished is forgotten, `last_id` stays."""
        self._pending, self._begun, self._id = b"", False, self.last_id
        self._forget()

    def _lines(self, data: bytes) -> Iterator[str]:
        # a "\r" that is last may be half of "\r\n": its line ends with the next byte
        pending = self._pending + data
        start = 0
        for end in _END.finditer(pending, max(0, len(self._pending) - 1)):
            if end.group() == b"\r" and end.end() == len(pending):
                break
            yield self._text(pending[start : end.start()])
            start = end.end()
        self._pending = pending[start:]
        if len(self._pending) > self.max_line:
            raise SseError(f"a line is longer than {self.max_line} bytes")

    def _text(self, line: bytes) -> str:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(_BOM)
        if len(line) > self.max_line:
            raise SseError(f"a line is longer than {self.max_line} bytes")
        try:
            return line.decode()
        except UnicodeDecodeError:
            raise SseError("the stream is not UTF-8") from None

    def _line(self, line: str) -> SseEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._size += len(value) + 1
            if self._size > self.max_data:
                raise SseError(f"an event has more than {self.max_data} characters of data")
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit() and len(value) < 10:
            self.retry = int(value)
        return None

    def _dispatch(self) -> SseEvent | None:
        self.last_id = self._id
        event = SseEvent(self.last_id, self._event or "message", "\n".join(self._data)) if self._data else None
        self._forget()
        return event

    def _forget(self) -> None:
        self._event, self._data, self._size = "", [], 0
