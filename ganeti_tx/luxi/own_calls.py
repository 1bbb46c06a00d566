"""The methods of `own_methods` with their types, for both kinds of asynchronous clients."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from ganeti_tx.luxi.timeouts import CLIENT_POLL
from ganeti_tx.luxi.transport_errors import ProtocolError
from ganeti_tx.metrics.readings import VERSION, Readings


class Caller(Protocol):
    """An `AsyncClient`, or what stands for one."""

    async def call(self, method: str, args: list[Any]) -> Any: ...


class Events(msgspec.Struct, frozen=True, array_like=True):
    """Some events.

    @ivar events: each with its id, as `model.events` has them.
    @ivar last: where to go on; all before it have been looked at, also those that were not wanted.
    @ivar gap: why events are missing between what was asked for and `last`, "restart" or "overrun"; None when none are.
    """

    events: list[tuple[str, dict[str, Any]]]
    last: str
    gap: str | None


async def wait_for_events(
    luxi: Caller,
    after: str | None,
    kinds: Sequence[str] | None = None,
    objects: Sequence[str] | None = None,
    timeout: int = CLIENT_POLL,
    limit: int = 1000,
) -> Events:
    """The events after an id as soon as there are any, or none when the time (seconds) is over; without an id, at once
    the present end and nothing more. @raise ProtocolError: this is no answer.
    """
    args = [after, None if kinds is None else list(kinds), None if objects is None else list(objects), timeout, limit]
    answer = await luxi.call("WaitForEvents", args)
    try:
        return msgspec.convert(answer, Events)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"WaitForEvents answered something else: {error}") from None


async def query_metrics(luxi: Caller) -> Readings:
    """All that is counted in the cluster, as of now. @raise ProtocolError: this is no answer, or of another version."""
    try:
        readings = msgspec.convert(await luxi.call("QueryMetrics", []), Readings)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"QueryMetrics answered something else: {error}") from None
    if readings.version != VERSION:
        raise ProtocolError(f"QueryMetrics answered in version {readings.version} of its form; known is {VERSION}")
    return readings
