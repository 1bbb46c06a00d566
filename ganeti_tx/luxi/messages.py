"""Requests and responses as values, and the client's half of their JSON.

Read with the standard json module: msgspec costs a command line more start-up time than the whole client.
"""

import json
from typing import NamedTuple

from ganeti_tx.luxi.framing import Message
from ganeti_tx.luxi.transport_errors import ProtocolError

#: The version clients send; no server looks at it (Ganeti 3.0 LUXI table, request).
CLIENT_VERSION = 3000000


class Request(NamedTuple):
    """One call. `args` is a list, save where a method looks at none: then clients may send anything."""

    method: str
    args: object
    version: int | None = None


class Response(NamedTuple):
    """One answer: the result, or with success false the error as [class name, [argument, ...]] or a plain string."""

    success: bool
    result: object


def encode_request(request: Request) -> bytes:
    """A request's JSON as the stock clients write it, newline at the end. @raise ProtocolError: not JSON."""
    message = {"method": request.method, "args": request.args}
    if request.version is not None:
        message["version"] = request.version
    try:
        return json.dumps(message, allow_nan=False).encode("ascii") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise ProtocolError(f"Cannot send the arguments of {request.method}: {error}") from error


def decode_response(message: Message) -> Response:
    """Read one answer. @raise ProtocolError: no JSON, not an answer, or one of another protocol version."""
    try:
        raw = json.loads(message.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"The answer cannot be read: {error}") from error
    if not isinstance(raw, dict) or not isinstance(raw.get("success"), bool) or "result" not in raw:
        raise ProtocolError(f"The answer lacks success or result: {bytes(message[:100])!r}")
    version = raw.get("version")
    if version is not None and version != CLIENT_VERSION:
        raise ProtocolError(f"LUXI version mismatch: client {CLIENT_VERSION}, server {version!r}")
    return Response(raw["success"], raw["result"])
