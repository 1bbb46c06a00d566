"""Heads of HTTP/1.1: writing that of a request, and reading that of its answer.

Only what node daemons send is taken. Whatever could be read in two ways is refused: such an answer, and the connection it came on,
are of no use.
"""

import re
from typing import NamedTuple

from ganeti_tx.rpc.http.errors import BadAnswer, shown

#: Bytes of a status line with all headers.
HEAD_LIMIT = 16 * 1024
END = b"\r\n\r\n"
BEGINNING = b"HTTP/1.1 "
_STATUS = re.compile(rb"HTTP/1\.1 ([2-5][0-9][0-9])(?: [\t\x20-\x7e\x80-\xff]*)?")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*?)[\t ]*")
_LENGTH = re.compile(rb"[0-9]{1,18}")
#: By these the end of a body is known; with two of one name, one reader would take the first and another the last.
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})
#: Answers that have no body, whatever they say of its length. Node daemons send none.
_BODILESS = frozenset({204, 304})


class Head(NamedTuple):
    """The beginning of an answer. Without a `length` in bytes its body comes in chunks, or goes on to the end of the connection."""

    status: int
    length: int | None = None
    chunked: bool = False
    closes: bool = False


def request(target: str, host: str, content_type: str, length: int) -> bytes:
    """The head of a POST."""
    return (
        f"POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    ).encode("ascii")


def could_begin(data: bytes | bytearray) -> bool:
    """Whether the first bytes are those of an answer, as far as they have come."""
    return data[: len(BEGINNING)] == BEGINNING[: len(data)]


def read(data: bytes) -> Head:
    """An answer's head, without the empty line at its end. @raise BadAnswer: it is none."""
    line, *lines = data.split(b"\r\n")
    found = _STATUS.fullmatch(line)
    if found is None or (status := int(found[1])) in _BODILESS:
        raise BadAnswer(f"it does not answer as a node daemon does: {shown(line)}")
    headers = framing(lines)
    closes = b"close" in headers.get(b"connection", b"").lower()
    encoding, length = headers.get(b"transfer-encoding"), headers.get(b"content-length")
    if encoding is not None:
        if length is not None or encoding.lower() != b"chunked":
            raise BadAnswer(f"the end of its answer is not clear: Transfer-Encoding {shown(encoding)}")
        return Head(status, None, True, closes)
    if length is None:
        return Head(status, None, False, True)
    if not _LENGTH.fullmatch(length):
        raise BadAnswer(f"the end of its answer is not clear: Content-Length {shown(length)}")
    return Head(status, int(length), False, closes)


def framing(lines: list[bytes]) -> dict[bytes, bytes]:
    """The headers by their names in lower case, those of one name as a list.

    @raise BadAnswer: one is no header, or says twice where the body ends.
    """
    headers: dict[bytes, bytes] = {}
    for line in lines:
        found = _HEADER.fullmatch(line)
        if found is None:
            raise BadAnswer(f"its answer has a line that is no header: {shown(line)}")
        name = found[1].lower()
        if name in _FRAMING and name in headers:
            raise BadAnswer(f"the end of its answer is not clear: two headers {shown(name)}")
        headers[name] = headers[name] + b", " + found[2] if name in headers else found[2]
    return headers
