"""What goes back to a client: values as JSON the way Ganeti writes it, error bodies, and what is not JSON."""

import html
import json
from collections.abc import AsyncIterator

import msgspec
from attrs import frozen

from ganeti_tx.rapi.http.http_errors import HttpError

JSON = "application/json"
#: Programs look at it to see what they talk to (Ganeti 3.0 RAPI table, response_headers).
SERVER = "Ganeti 3.0.2"


@frozen
class Document:
    """What an operation gives that is not sent as JSON."""

    content_type: str
    body: bytes


@frozen
class Stream:
    """What an operation gives that is sent piece by piece, as long as somebody reads it.

    Nothing more is asked of `chunks` than the client has taken; it is closed (`aclose`) when the client has gone.
    """

    content_type: str
    chunks: AsyncIterator[bytes]


def render(value: object) -> bytes:
    """JSON in one line of ASCII with ", " and ": " between the parts (Ganeti 3.0 RAPI table, json_output)."""
    encoded = msgspec.json.encode(value)
    if not encoded.isascii():
        encoded = json.dumps(msgspec.json.decode(encoded)).encode("ascii")
    return msgspec.json.format(encoded, indent=0) + b"\n"


def error_body(error: HttpError) -> bytes:
    """The body that goes with an error (Ganeti 3.0 RAPI table, error_body)."""
    return render(
        {
            "code": error.status.value,
            "message": html.escape(str(error), quote=True),
            "explain": error.status.description,
        }
    )


def farewell(error: HttpError) -> bytes:
    """A whole response for a client from whom nothing more is read."""
    body = error_body(error)
    head = (
        f"HTTP/1.1 {error.status.value} {error.status.phrase}\r\nServer: {SERVER}\r\nConnection: close\r\n"
        f"Content-Type: {JSON}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("ascii") + body
