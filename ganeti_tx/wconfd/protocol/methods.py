"""The one table of WConfD's methods, with the types that both ends use. Each request begins with its owner."""

from types import NoneType
from typing import Any, Generic, TypeVar

import attrs
import msgspec

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.operation import Argument, Repeat, operations_of
from ganeti_tx.luxi.method_table import Method, MethodTable, Param
from ganeti_tx.luxi.shapes import Shape, ShapeError
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.wconfd.protocol.words import word

R = TypeVar("R")

#: A job's number and its livelock file (daemons.txt, Statelessness of the protocol).
WireOwner = tuple[int, str]
#: A lock and the mode it shall have, as `LockRequest.to_wire` writes it.
WireRequest = tuple[str, str]
#: Name, mode, owners, and who waits: as `LockStatus`.
WireLock = tuple[str, str | None, list[WireOwner], list[tuple[str, list[WireOwner]]]]


@attrs.frozen(eq=False)
class Call(Generic[R]):
    """One method: its name on the wire, the method of IConfig or ILocks behind it, its arguments, its result."""

    name: str
    attribute: str
    arguments: tuple[Argument, ...]
    result: type[R]
    repeat: Repeat = Repeat.SAFE


#: Every operation of the configuration; it is declared there.
CONFIG_OPERATIONS = operations_of(IConfig)
CONFIG_CALLS: dict[str, Call[Any]] = {
    name: Call(name, each.attribute, each.arguments, each.result, each.repeat)
    for name, each in CONFIG_OPERATIONS.items()
}

# Locks (daemons.txt, Locking)

NUMBER = Argument("number", int)
REQUESTS = Argument("requests", list[WireRequest])
PRIORITY = Argument("priority", int)
NEVER = Repeat.NEVER

#: Requests, priority, seconds to wait; answers why it was given up when the time was over.
UPDATE_LOCKS: Call[str | None] = Call(
    "UpdateLocks",
    "update",
    (NUMBER, REQUESTS, PRIORITY, Argument("timeout", float | None)),
    str | None,  # type: ignore[arg-type]
)
OPPORTUNISTIC_UNION = Call("OpportunisticLockUnion", "opportunistic_union", (REQUESTS, PRIORITY), list[str], NEVER)
LIST_LOCKS = Call("ListLocks", "held", (), dict[str, str])
INTERSECT_LOCKS = Call("IntersectLocks", "intersect", (Argument("locks", list[str]),), NoneType)
FREE_LOCKS = Call("FreeLocks", "release_all", (NUMBER,), NoneType)
SET_LOCK_PRIORITY = Call("SetLockPriority", "set_priority", (PRIORITY,), NoneType)
REMOVE_LOCK = Call("RemoveLock", "remove", (Argument("lock", str),), NoneType, NEVER)
LIST_ALL_LOCKS = Call("ListAllLocks", "overview", (), list[WireLock])
#: Somebody knows that a process died: what it had is free when the answer comes.
LOOK_FOR_DEAD = Call("LookForDead", "look_for_dead", (), NoneType)

#: What luxid, when it runs apart, shows of this daemon (doc/design/metrics.rst).
READ_METRICS = Call("ReadMetrics", "readings", (), Readings)

#: Seconds to wait; answers the candidates that lack something then, and why.
SPREAD_RAPI_FILES = Call("SpreadRapiFiles", "spread_rapi_files", (Argument("limit", float),), list[tuple[str, str]])

CALLS: dict[str, Call[Any]] = {
    **CONFIG_CALLS,
    **{each.name: each for each in list(globals().values()) if isinstance(each, Call)},
}


def shape(kind: Any) -> Shape:
    """The shape of what one type decodes."""

    def read(value: object) -> object:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise ShapeError(str(error)) from None

    return Shape(word(kind), read)


def server_table() -> MethodTable:
    """The methods as the server checks them: the owner, then the arguments."""
    owner = Param("owner [job id, livelock]", shape(WireOwner))
    return MethodTable(Method(call.name, (owner, *map(param, call.arguments))) for call in CALLS.values())


def param(argument: Argument) -> Param:
    """One argument as the server checks it; refusals name it, and what it may be."""
    return Param(f"{argument.name} ({word(argument.kind)})", shape(argument.kind))
