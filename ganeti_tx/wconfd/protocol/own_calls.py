"""The requests that are no operations of the configuration, declared by the methods that answer them."""

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from ganeti_tx.config.call import Call, Repeat
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.wconfd.protocol.own_methods import OwnMethods

P = ParamSpec("P")
R = TypeVar("R")


class OwnCall(Call[P, R]):
    """One request; `method` answers it for an owner."""

    def __init__(
        self,
        name: str,
        method: Callable[Concatenate[OwnMethods, Owner, P], Coroutine[Any, Any, R]],
        repeat: Repeat = Repeat.SAFE,
    ) -> None:
        super().__init__(name, method, given_by_others=2, repeat=repeat)
        self.method = method


UPDATE_LOCKS = OwnCall("UpdateLocks", OwnMethods.update)
OPPORTUNISTIC_UNION = OwnCall("OpportunisticLockUnion", OwnMethods.opportunistic_union, Repeat.NEVER)
LIST_LOCKS = OwnCall("ListLocks", OwnMethods.held)
INTERSECT_LOCKS = OwnCall("IntersectLocks", OwnMethods.intersect)
FREE_LOCKS = OwnCall("FreeLocks", OwnMethods.release_all)
TAKE_OVER_LOCKS = OwnCall("TakeOverLocks", OwnMethods.take_over)
SET_LOCK_PRIORITY = OwnCall("SetLockPriority", OwnMethods.set_priority)
REMOVE_LOCK = OwnCall("RemoveLock", OwnMethods.remove, Repeat.NEVER)
LIST_ALL_LOCKS = OwnCall("ListAllLocks", OwnMethods.overview)
ECHO = OwnCall("Echo", OwnMethods.echo)
LOOK_FOR_DEAD = OwnCall("LookForDead", OwnMethods.look_for_dead)
READ_METRICS = OwnCall("ReadMetrics", OwnMethods.readings)
SPREAD_RAPI_FILES = OwnCall("SpreadRapiFiles", OwnMethods.spread_rapi_files)

OWN_CALLS: dict[str, OwnCall[..., Any]] = {
    each.name: each for each in list(globals().values()) if isinstance(each, OwnCall)
}
