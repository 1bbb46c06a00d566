"""The one table of WConfD's methods, with the types that both ends use. Each request begins with its owner."""

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, get_type_hints

import attrs
import msgspec

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.operation import Argument, Repeat, arguments_of, operations_of
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.luxi.method_table import Method, MethodTable, Param
from ganeti_tx.luxi.shapes import Shape, ShapeError
from ganeti_tx.wconfd.protocol.own_methods import OwnMethods, WireOwner
from ganeti_tx.wconfd.protocol.words import word

P = ParamSpec("P")
R = TypeVar("R")


@attrs.frozen(eq=False)
class Call(Generic[P, R]):
    """One method: its name on the wire, its arguments after the owner, its result."""

    name: str
    arguments: tuple[Argument, ...]
    result: type[R]
    repeat: Repeat


@attrs.frozen(eq=False)
class OwnCall(Call[P, R]):
    """One that is no operation of the configuration; `method` answers it."""

    method: Callable[Concatenate[OwnMethods, Owner, P], Coroutine[Any, Any, R]]


def own(
    name: str,
    method: Callable[Concatenate[OwnMethods, Owner, P], Coroutine[Any, Any, R]],
    repeat: Repeat = Repeat.SAFE,
) -> OwnCall[P, R]:
    """Declare one by the function that answers it."""
    return OwnCall(name, arguments_of(method, 2), get_type_hints(method)["return"], repeat, method)


#: Every operation of the configuration; it is declared there.
CONFIG_OPERATIONS = operations_of(IConfig)
CONFIG_CALLS: dict[str, Call[..., Any]] = {
    name: Call(name, each.arguments, each.result, each.repeat) for name, each in CONFIG_OPERATIONS.items()
}

UPDATE_LOCKS = own("UpdateLocks", OwnMethods.update)
OPPORTUNISTIC_UNION = own("OpportunisticLockUnion", OwnMethods.opportunistic_union, Repeat.NEVER)
LIST_LOCKS = own("ListLocks", OwnMethods.held)
INTERSECT_LOCKS = own("IntersectLocks", OwnMethods.intersect)
FREE_LOCKS = own("FreeLocks", OwnMethods.release_all)
TAKE_OVER_LOCKS = own("TakeOverLocks", OwnMethods.take_over)
SET_LOCK_PRIORITY = own("SetLockPriority", OwnMethods.set_priority)
REMOVE_LOCK = own("RemoveLock", OwnMethods.remove, Repeat.NEVER)
LIST_ALL_LOCKS = own("ListAllLocks", OwnMethods.overview)
LOOK_FOR_DEAD = own("LookForDead", OwnMethods.look_for_dead)
READ_METRICS = own("ReadMetrics", OwnMethods.readings)
SPREAD_RAPI_FILES = own("SpreadRapiFiles", OwnMethods.spread_rapi_files)

OWN_CALLS: dict[str, OwnCall[..., Any]] = {
    each.name: each for each in list(globals().values()) if isinstance(each, OwnCall)
}
CALLS: dict[str, Call[..., Any]] = {**CONFIG_CALLS, **OWN_CALLS}


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
