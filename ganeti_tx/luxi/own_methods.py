# mypy: disable-error-code="empty-body"
"""LUXI methods that Ganeti does not have; only programs of ours call them."""

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import msgspec

from ganeti_tx.luxi.declared import method, table_of
from ganeti_tx.luxi.method_table import Effect, Param
from ganeti_tx.luxi.methods import Methods
from ganeti_tx.luxi.shapes import INT, NATURAL, STRING, STRINGS, nullable
from ganeti_tx.luxi.timeouts import CLIENT_POLL
from ganeti_tx.luxi.transport_errors import ProtocolError
from ganeti_tx.metrics.readings import VERSION, Readings

T = TypeVar("T")
TELLS, WAITS = Effect.TELLS, Effect.WAITS


class Events(msgspec.Struct, frozen=True, array_like=True):
    """Some events.

    @ivar events: each with its id, as `model.events` has them.
    @ivar last: where to go on; all before it have been looked at, also those that were not wanted.
    @ivar gap: why events are missing between what was asked for and `last`, "restart" or "overrun"; None when none are.
    """

    events: list[tuple[str, dict[str, Any]]]
    last: str
    gap: str | None


def converted(kind: type[T], method: str, result: object) -> T:
    """The result as what it stands for. @raise ProtocolError: it is something else."""
    try:
        return msgspec.convert(result, kind)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"{method} answered something else: {error}") from None


def of_known_version(kind: type[T], method: str, result: object) -> T:
    """The same for readings. @raise ProtocolError: also when they are of another version."""
    readings = converted(kind, method, result)
    if isinstance(readings, Readings) and readings.version != VERSION:
        raise ProtocolError(f"{method} answered in version {readings.version} of its form; known is {VERSION}")
    return readings


Kinds = Annotated[Sequence[str] | None, Param("list of kinds or null", nullable(STRINGS))]
Objects = Annotated[Sequence[str] | None, Param("list of object names or null", nullable(STRINGS))]


class OwnMethods:
    """As `Methods`; for clients that wait, since what they answer would cost a command too much to read."""

    @method(WAITS, gives_way=True, check=converted)
    def wait_for_events(
        self,
        after: Annotated[str | None, Param("event id, or null for the present end", nullable(STRING))],
        kinds: Kinds = None,
        objects: Objects = None,
        timeout: Annotated[int, Param("timeout: int seconds", INT)] = CLIENT_POLL,
        limit: Annotated[int, Param("limit: int, most events in one answer", NATURAL)] = 1000,
    ) -> Events:
        """The events after an id as soon as there are any, or none when the time (seconds) is over; without an id, at
        once the present end and nothing more.
        """

    @method(TELLS, asks_nodes=True, check=of_known_version)
    def query_metrics(self) -> Readings:
        """All that is counted in the cluster, as of now."""

    @method(Effect.CHANGES)
    def withdraw_caller(
        self,
        caller: Annotated[str, Param("caller of the Remote API", STRING)],
        until: Annotated[int, Param("until: int nanoseconds since the epoch", NATURAL)],
    ) -> bool:
        """Begin nothing any more that somebody asked for until then; true."""


OWN_METHODS = table_of(OwnMethods)
#: What our master daemon answers.
ALL_METHODS = table_of(Methods, OwnMethods)
