"""What an allocator says."""

from typing import Any

import msgspec

from ganeti_tx.allocator.requests import R, Request
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError

#: Characters of an allocator's own words that are told.
TOLD = 8 * 1024


class Answer(msgspec.Struct, frozen=True):
    """The one object that an allocator prints; an old one calls its result `nodes`."""

    success: bool
    info: str
    result: Any = msgspec.UNSET
    nodes: Any = msgspec.UNSET


def read_answer(name: str, request: Request[R], said: str) -> R:
    """The result of a request.

    @raise OpPrereqError: the allocator has found nothing, and says why.
    @raise OpExecError: it does not keep to the protocol.
    """
    try:
        answer = msgspec.json.decode(said, type=Answer)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise OpExecError(
            f"Can't parse iallocator results: iallocator '{name}' did not answer as it must: {error}"
        ) from None
    if not answer.success:
        raise OpPrereqError(f"Can't compute nodes using iallocator '{name}': {answer.info[:TOLD]}", ECode.NORES)
    result = answer.nodes if answer.result is msgspec.UNSET else answer.result
    try:
        return request.read(None if result is msgspec.UNSET else result)
    except OpExecError as error:
        raise OpExecError(f"iallocator '{name}' returned an invalid result: {error}") from None
