"""Bytes to messages and back: each message ends with the byte 0x03, which no message may hold inside."""

from collections.abc import Iterator

#: The byte that ends a message (Ganeti 3.0 LUXI table, framing).
TERMINATOR = b"\x03"
#: The longest message taken from a client, in bytes: a thousand jobs with large opcodes fit.
MAX_REQUEST = 32 * 1024 * 1024
#: The longest message taken from a server, in bytes: the logs of a full queue fit.
MAX_RESPONSE = 512 * 1024 * 1024

#: A message that came in one piece is bytes; a longer one is not copied once more to become so.
Message = bytes | bytearray


class FrameTooLong(ValueError):
    """The other side sends a message over the limit; the stream cannot be read any further."""


class FrameBuffer:
    """Cuts a byte stream into messages; the unfinished tail takes no more room than its bytes, however small they come."""

    __slots__ = ("_held", "_limit")

    def __init__(self, limit: int = MAX_REQUEST) -> None:
        self._limit = limit
        self._held = bytearray()

    @property
    def unfinished(self) -> int:
        """How many bytes of a message without an end are held."""
        return len(self._held)

    def feed(self, data: bytes) -> Iterator[Message]:
        """Take in bytes and yield each message they complete; iterate to the end, or bytes are lost.

        @raise FrameTooLong: after the messages before it, when a message grows over the limit.
        """
        start = 0
        while (end := data.find(TERMINATOR, start)) >= 0:
            yield self._completed(data[start:end])
            start = end + 1
        self._check(len(data) - start)
        self._held += data[start:]

    def clear(self) -> None:
        """Forget the unfinished tail; what comes next begins a message."""
        self._held = bytearray()

    def _completed(self, last: bytes) -> Message:
        self._check(len(last))
        if not self._held:
            return last
        self._held += last
        message, self._held = self._held, bytearray()
        return message

    def _check(self, more: int) -> None:
        if len(self._held) + more > self._limit:
            self.clear()
            raise FrameTooLong(f"message is longer than the limit of {self._limit} bytes")


def frame(message: bytes) -> bytes:
    """A message ready to be sent. @raise ValueError: it holds the terminator."""
    if TERMINATOR in message:
        raise ValueError("message holds the terminator byte 0x03")
    return message + TERMINATOR
