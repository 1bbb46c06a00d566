"""WConfD's end of the protocol: checks the types of a request and makes one call."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from attrs import define

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import LockRequest, LockStatus, Owner
from ganeti_tx.locking.levels import Lock
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.wconf import methods
from ganeti_tx.wconf.methods import CONFIG_METHODS, TABLE, ConfigMethod


def read_owner(raw: Any) -> Owner:
    """@raise OpPrereqError: not a job id and a livelock."""
    job_id, livelock = convert(raw, tuple[int, str], "owner")
    return Owner(job_id, livelock)


def read_arguments(name: str, method: ConfigMethod, raw: Any) -> tuple[Any, ...]:
    """@raise OpPrereqError: too many or too few, or one of another type; the text says which."""
    if len(raw) != len(method.arguments):
        raise OpPrereqError(f"{name} takes {len(method.arguments)} arguments, not {len(raw)}", ECode.INVAL)
    pairs = enumerate(zip(raw, method.arguments, strict=True))
    return tuple(convert(value, kind, f"{name}, argument {index + 1}") for index, (value, kind) in pairs)


def convert(value: Any, kind: Any, what: str) -> Any:
    """A JSON value as a type. @raise OpPrereqError: it is not one."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise OpPrereqError(f"{what}: {error}", ECode.INVAL)


@define
class WconfDispatch:
    """Every method of the table; `config_for` gives the configuration as one owner may change it."""

    config_for: Callable[[Owner], IConfig]
    locks: DeferredLocks
    owner_seen: Callable[[Owner], None]

    async def __call__(self, name: str, args: list[Any], peer: Peer | None) -> Any:
        """The method's result."""
        owner = read_owner(args[0])
        arguments = read_arguments(name, TABLE[name], args[1])
        self.owner_seen(owner)
        if name in CONFIG_METHODS:
            return await getattr(self.config_for(owner), name)(*arguments)
        return await self._lock_method(name)(owner, *arguments)

    def _lock_method(self, name: str) -> Callable[..., Awaitable[Any]]:
        table: dict[str, Callable[..., Awaitable[Any]]] = {
            methods.UPDATE_LOCKS: self._update,
            methods.OPPORTUNISTIC_LOCK_UNION: self._union,
            methods.LIST_LOCKS: self._held,
            methods.INTERSECT_LOCKS: self._intersect,
            methods.FREE_LOCKS: self._free,
            methods.SET_LOCK_PRIORITY: self._set_priority,
            methods.REMOVE_LOCK: self._remove,
            methods.LOCK_OVERVIEW: self._overview,
        }
        return table[name]

    async def _update(
        self, owner: Owner, requests: list[methods.WireRequest], priority: int, timeout: float | None
    ) -> None:
        await self.locks.update(owner, [LockRequest.parse(*pair) for pair in requests], priority, timeout)

    async def _union(self, owner: Owner, requests: list[methods.WireRequest], priority: int) -> list[str]:
        wanted = [LockRequest.parse(*pair) for pair in requests]
        return [str(lock) for lock in sorted(self.locks.opportunistic_union(owner, wanted, priority))]

    async def _held(self, owner: Owner) -> list[methods.WireRequest]:
        return [(str(lock), mode.value) for lock, mode in sorted(self.locks.held(owner).items())]

    async def _intersect(self, owner: Owner, names: list[str]) -> None:
        self.locks.intersect(owner, [Lock.parse(name) for name in names])

    async def _free(self, owner: Owner) -> None:
        self.locks.release_all(owner)

    async def _set_priority(self, owner: Owner, priority: int) -> None:
        self.locks.set_priority(owner, priority)

    async def _remove(self, owner: Owner, name: str) -> None:
        self.locks.remove(owner, Lock.parse(name))

    async def _overview(self, owner: Owner) -> list[Any]:
        return [encode_status(status) for status in self.locks.overview()]


def encode_status(status: LockStatus) -> list[Any]:
    """A lock's state as lists: name, mode, owners, pending."""
    return [
        str(status.lock),
        None if status.mode is None else status.mode.value,
        [[owner.job_id, owner.livelock] for owner in status.owners],
        [[mode.value, [[owner.job_id, owner.livelock] for owner in owners]] for mode, owners in status.pending],
    ]
