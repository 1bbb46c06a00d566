"""Node calls and their answers as bytes (MessagePack), for both ends."""

from typing import TypeVar

import msgspec

from ganeti_tx.rpc.calls import NodeCall
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError

R = TypeVar("R")
C = TypeVar("C", bound=NodeCall[object])

CONTENT_TYPE = "application/msgpack"


def encode_call(call: NodeCall[object]) -> bytes:
    """The request body. @raise NodeCallError: it is over the call's limit."""
    body = msgspec.msgpack.encode(call)
    if len(body) > call.max_request:
        raise NodeCallError(f"{call.name} would carry {len(body)} bytes; the limit is {call.max_request}")
    return body


def decode_call(kind: type[C], body: bytes) -> C:
    """@raise NodeCallError: the body is not such a call; the text says where."""
    try:
        return msgspec.msgpack.decode(body, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise NodeCallError(f"bad arguments of {kind.name}: {error}")


def encode_success(result: object) -> bytes:
    """The answer that carries a result."""
    return msgspec.msgpack.encode((True, result))


def encode_failure(text: str) -> bytes:
    """The answer that carries an error's text."""
    return msgspec.msgpack.encode((False, text))


def decode_answer(node_name: str, call: NodeCall[R], body: bytes) -> R:
    """The call's typed result. @raise NodeCallError: the node's own failure. @raise NodeUnreachableError: not an answer."""
    try:
        success, payload = msgspec.msgpack.decode(body, type=tuple[bool, msgspec.Raw])
        if success:
            result: R = msgspec.msgpack.decode(payload, type=call.result())
            return result
        text = msgspec.msgpack.decode(payload, type=str)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise NodeUnreachableError(f"node {node_name} answers {call.name} with something else: {error}")
    raise NodeCallError(f"node {node_name}: {text}")
