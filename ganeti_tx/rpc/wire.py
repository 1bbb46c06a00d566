"""Node calls and their answers as bytes (MessagePack), for both ends."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import msgspec

from ganeti_tx.errors import GanetiError, decode_error, encode_error, escaped_line_ends, plain
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError
from ganeti_tx.rpc.refusals import REFUSALS, BadArguments

R = TypeVar("R")
C = TypeVar("C", bound=NodeCall[object])

CONTENT_TYPE = "application/msgpack"
#: Whether it is a result, and that, or the error.
_ANSWER = msgspec.msgpack.Decoder(tuple[bool, msgspec.Raw])
#: What `str.splitlines` takes for one, in bytes; numbers may look like one, too.
_LINE_ENDS = re.compile(rb"[\n-\r\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
#: What decoding raises: bytes that are something else, and such as are nested deeper than anything is.
MALFORMED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def encode_call(call: NodeCall[object]) -> bytes:
    """The request body. @raise NodeCallError: it is over the call's limit."""
    body = msgspec.msgpack.encode(call)
    if len(body) > call.max_request:
        raise NodeCallError(f"{call.name} would carry {len(body)} bytes; the limit is {call.max_request}")
    return body


def decode_call(kind: type[C], body: bytes) -> C:
    """@raise BadArguments: the body is not such a call; the text says where."""
    try:
        return msgspec.msgpack.decode(body, type=kind)
    except MALFORMED as error:
        raise BadArguments(f"bad arguments of {kind.name}: {error}")


def encode_success(result: object) -> bytes:
    """The answer that carries a result."""
    return _encode(True, result)


def encode_failure(error: GanetiError) -> bytes:
    """The answer that carries an error, as [class name, [arguments]]."""
    name = type(error).__name__
    own = [name, [plain(arg) for arg in error.args]] if REFUSALS.get(name) is type(error) else encode_error(error)
    return _encode(False, own)


def _encode(success: bool, payload: object) -> bytes:
    try:
        return msgspec.msgpack.encode((success, payload))
    except UnicodeEncodeError:
        told = msgspec.to_builtins(payload, builtin_types=(bytes,))
        return msgspec.msgpack.encode((success, each_text(told, escaped)))


def escaped(text: str) -> str:
    """With "\\udcff" for what is no text, as the names of files may have it that anybody made."""
    return text.encode("utf-8", "backslashreplace").decode()


def each_text(value: Any, changed: Callable[[str], str]) -> Any:
    """Plain data with each of its texts changed."""
    match value:
        case str():
            return changed(value)
        case list() | tuple():
            return type(value)(each_text(each, changed) for each in value)
        case dict():
            return {each_text(key, changed): each_text(each, changed) for key, each in value.items()}
    return value


def decode_failure(raw: object) -> GanetiError:
    """The error that `encode_failure` wrote, of the same class. Never raises."""
    match raw:
        case [str(name), [*args]] if name in REFUSALS:
            return REFUSALS[name](*args)
    return decode_error(raw)


@cache
def decoder(kind: type[NodeCall[object]]) -> "msgspec.msgpack.Decoder[Any]":
    """What decodes the results of a call."""
    return msgspec.msgpack.Decoder(kind.result(), dec_hook=of_wire)


def of_wire(kind: type[Any], raw: object) -> object:
    """Of plain data a part of a result whose type understands it by itself."""
    return kind.of_wire(raw)


def decode_result(kind: type[NodeCall[R]], payload: msgspec.Raw) -> R:
    """What a call was answered. @raise DecodeError: it is of another type."""
    result: R
    if kind.in_lines and _LINE_ENDS.search(payload):
        told = each_text(msgspec.msgpack.decode(payload), escaped_line_ends)
        result = msgspec.convert(told, kind.result(), dec_hook=of_wire)
    else:
        result = decoder(kind).decode(payload)
    return result


def decode_answer(node_name: str, call: NodeCall[R], body: bytes) -> R:
    """The call's typed result. @raise NodeCallError: the node's own failure. @raise NodeUnreachableError: not an answer."""
    try:
        success, payload = _ANSWER.decode(body)
        if success:
            return decode_result(type(call), payload)
        cause = decode_failure(msgspec.msgpack.decode(payload))
    except MALFORMED as error:
        raise NodeUnreachableError(f"node {node_name} answers {call.name} with something else: {error}")
    raise NodeCallError(f"node {node_name}: {cause}", cause)
