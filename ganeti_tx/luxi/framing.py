"""Bytes to messages and back: each message ends with the byte 0x03, which no message may hold inside."""

from collections.abc import Iterator

#: The byte that ends a message (Ganeti 3.0 LUXI table, framing).
TERMINATOR = b"\x03"
#: The longest message taken from a client, in bytes: a thousand jobs with large opcodes fit.
MAX_REQUEST = 32 * 1024 * 1024
#: The longest message taken from a server, in bytes: the logs of a full queue fit.
MAX_RESPONSE = 512 * 1024 * 1024


class FrameTooLong(ValueError):
    """The other side sends a message over the limit; the stream cannot be read any further."""


class FrameBuffer:
    """Cuts a byte stream into messages; keeps the unfinished tail in pieces, so that every byte is copied once."""

    __slots__ = ("_limit", "_pieces", "_size")

    def __init__(self, limit: int = MAX_REQUEST) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def unfinished(self) -> int:
        """How many bytes of a message without an end are held."""
        return self._size

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take in bytes and yield each message they complete; iterate to the end, or bytes are lost.

        @raise FrameTooLong: after the messages before it, when a message grows over the limit.
        """
        start = 0
        while (end := data.find(TERMINATOR, start)) >= 0:
            self._keep(data[start:end])
            yield self._take()
            start = end + 1
        self._keep(data[start:])

    def _keep(self, piece: bytes) -> None:
        if self._size + len(piece) > self._limit:
            self._pieces, self._size = [], 0
            raise FrameTooLong(f"message is longer than the limit of {self._limit} bytes")
        if piece:
            self._pieces.append(piece)
            self._size += len(piece)

    def _take(self) -> bytes:
        message = b"".join(self._pieces)
        self._pieces, self._size = [], 0
        return message


def frame(message: bytes) -> bytes:
    """A message ready to be sent. @raise ValueError: it holds the terminator."""
    if TERMINATOR in message:
        raise ValueError("message holds the terminator byte 0x03")
    return message + TERMINATOR
