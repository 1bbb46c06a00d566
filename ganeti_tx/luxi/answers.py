"""From an answer to what the caller gets: the result, or the error raised."""

from typing import Any, TypeVar

from ganeti_tx.errors import BY_NAME, decode_error
from ganeti_tx.luxi.framing import Message
from ganeti_tx.luxi.messages import decode_response
from ganeti_tx.luxi.transport_errors import ProtocolError, RequestError

T = TypeVar("T")


def result_of(message: Message) -> Any:
    """The result in an answer.

    @raise GanetiError: the server's error, rebuilt as its class.
    @raise RequestError: the server refused the request with no error of Ganeti's.
    @raise ProtocolError: this is no answer.
    """
    response = decode_response(message)
    if response.success:
        return response.result
    match response.result:
        case [str(name), list()] if name in BY_NAME:
            raise decode_error(response.result)
    raise RequestError(f"Request refused: {response.result}")


def check_type(kind: type[T], method: str, result: object) -> T:
    """The result, if it has the type promised. @raise ProtocolError: it has another."""
    if not isinstance(result, kind) or (kind is int and isinstance(result, bool)):
        raise ProtocolError(f"{method} answered {repr(result)[:100]}, expected {kind.__name__}")
    return result
