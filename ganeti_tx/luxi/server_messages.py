"""The server's half of the JSON: requests read strictly with msgspec, answers written compact and in ASCII."""

import json
from typing import Any

import msgspec

from ganeti_tx.errors import GanetiError, GenericError, encode_error
from ganeti_tx.luxi.framing import Message
from ganeti_tx.luxi.messages import Request
from ganeti_tx.luxi.request_bounds import TOO_DEEP, OutOfBounds, check_count, check_shape

#: No client gets to know more of an unexpected error than this; the log has the rest.
INTERNAL_ERROR = "internal error"

#: Characters of an error's text; more is cut off.
MAX_TEXT = 64 * 1024


class _Request(msgspec.Struct, frozen=True):
    """What is asked of a request before its method is looked at; further keys are let through."""

    method: str
    args: Any
    version: int | None = None


class UnreadableRequest(ValueError):
    """A message that is no request; the stream is not to be trusted any further."""


_decoder = msgspec.json.Decoder(_Request)


def decode_request(message: Message) -> Request:
    """Read one request. @raise UnreadableRequest: no JSON, not an object with method and args, or out of bounds."""
    try:
        check_count(message)
        raw = _decoder.decode(message)
        check_shape(raw.args)
    except RecursionError:
        raise UnreadableRequest(f"Cannot parse request: {TOO_DEEP}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, OutOfBounds) as error:
        raise UnreadableRequest(f"Cannot parse request: {error}") from error
    return Request(raw.method, raw.args, raw.version)


def encode_result(result: object) -> bytes:
    """The answer of a call that went well; Structs become their wire form.

    @raise TypeError: the result cannot be JSON.
    """
    return _encode(True, result)


def encode_failure(error: GanetiError) -> bytes:
    """The answer of a call that failed, the error as [class name, [argument, ...]].

    An error that cannot be JSON, such as one with a file name that is no UTF-8, goes as a GenericError of its text.
    """
    try:
        return _encode(False, shortened(encode_error(error)))
    except TypeError:
        text = str(error).encode("utf-8", "backslashreplace").decode("utf-8")
        return _encode(False, encode_error(GenericError(text)))


def shortened(error: Any) -> Any:
    """An error without the end of texts that are too long, as they are when they repeat what a client sent."""
    match error:
        case str() if len(error) > MAX_TEXT:
            return error[:MAX_TEXT] + "..."
        case list() | tuple():
            return [shortened(each) for each in error]
    return error


def encode_internal_error() -> bytes:
    """The answer of a call that met an error nobody foresaw."""
    return encode_failure(GenericError(INTERNAL_ERROR))


def encode_refusal(reason: str) -> bytes:
    """The answer to what is no request: a plain string, after which the server closes the connection."""
    return _encode(False, reason)


def _encode(success: bool, result: object) -> bytes:
    try:
        encoded = msgspec.json.encode({"success": success, "result": result})
    except (ValueError, OverflowError, RecursionError) as error:
        raise TypeError(f"result cannot be JSON: {error}") from error
    if encoded.isascii():
        return encoded
    return json.dumps(msgspec.json.decode(encoded), separators=(",", ":")).encode("ascii")
