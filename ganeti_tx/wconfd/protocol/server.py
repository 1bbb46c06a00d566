"""The server's end of the WConfD protocol: each method is one call of the configuration or of the locks."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs
from twisted.internet.defer import CancelledError, Deferred

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.operation import Effect
from ganeti_tx.errors import ConfigurationError, LockError
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import LockRequest, LockStatus, LockTimeout, Owner
from ganeti_tx.locking.levels import Lock, Mode
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.wconfd.protocol.methods import (
    CALLS,
    CONFIG_OPERATIONS,
    WireLock,
    WireOwner,
    WireRequest,
)

#: Seconds for which a lock that is granted, but cannot be written down, is held back before it is refused.
KEEP_LIMIT = 10.0
#: Seconds that a caller may wait for candidates at most.
SPREAD_LIMIT = 60.0
EXCLUSIVE = Mode.EXCLUSIVE
#: The effects that a restart must find, and for how many seconds their writing is waited for; None: without end.
KEPT: Mapping[Effect, float | None] = {Effect.RESERVED: KEEP_LIMIT, Effect.GIVEN_BACK: None}

#: When so many processes have asked for locks, those that have died are forgotten.
MANY_PROCESSES = 1000


async def nobody_lacks(limit: float) -> list[tuple[str, str]]:
    """There are no other nodes."""
    return []


@attrs.define(eq=False)
class WconfDispatch:
    """Answers requests. `saved` waits, for so many seconds or without end, until locks and reservations are where a
    restart finds them; `is_alive` asks for an owner's process; `look_for_dead` is called before somebody waits, for what
    he waits for may be held by nobody any more; `is_unknown` tells the jobs whose locks an earlier daemon lost.
    """

    _config: Callable[[Owner], IConfig]
    _locks: DeferredLocks
    _saved: Callable[[float | None], Awaitable[None]]
    _is_alive: Callable[[Owner], bool]
    _look_for_dead: Callable[[], None]
    _is_unknown: Callable[[Owner], bool] = lambda owner: False
    _readings: Callable[[], Readings] = Readings
    _spread: Callable[[float], Awaitable[list[tuple[str, str]]]] = nobody_lacks
    _newest: dict[str, int] = attrs.field(factory=dict, init=False)
    _updates: dict[Owner, "Deferred[None]"] = attrs.field(factory=dict, init=False)

    async def __call__(self, method: str, args: list[Any], peer: Peer | None) -> object:
        """The result of a request whose arguments have been checked. @raise GanetiError: it was refused."""
        owner = Owner(*args[0])
        operation = CONFIG_OPERATIONS.get(method)
        if operation is None:
            return await getattr(self, CALLS[method].attribute)(owner, *args[1:])
        result = await self._config(owner).perform(operation, tuple(args[1:]))
        await self._keep_reserved(operation.effect)
        return result

    # The lock methods of the table

    async def update(
        self, owner: Owner, number: int, requests: list[WireRequest], priority: int, timeout: float | None
    ) -> str | None:
        """Wait for the locks; a request that is sent again takes the place of the one whose connection was lost."""
        self._check_owner(owner)
        if self._is_overtaken(owner, number):
            raise LockError(f"{owner} has asked for something else since it asked for these locks")
        before = self._locks.held(owner)
        earlier = self._updates.pop(owner, None)
        if earlier is not None:
            earlier.cancel()
        wanted = [LockRequest.parse(*request) for request in requests]
        waiting = self._locks.update(owner, wanted, priority, timeout)
        if not waiting.called:
            self._updates[owner] = waiting
            self._look_for_dead()
        try:
            await waiting
        except LockTimeout as error:
            return str(error)
        except CancelledError:
            if self._updates.get(owner) is waiting:
                raise  # who asked has hung up
            raise LockError(f"{owner} has asked for these locks again, over another connection") from None
        finally:
            if self._updates.get(owner) is waiting:
                del self._updates[owner]
        await self._keep_granted(owner, before)
        return None

    async def opportunistic_union(self, owner: Owner, requests: list[WireRequest], priority: int) -> list[str]:
        """What was added or upgraded."""
        self._check_owner(owner)
        before = self._locks.held(owner)
        wanted = [LockRequest.parse(*request) for request in requests]
        added = self._locks.opportunistic_union(owner, wanted, priority)
        if added:
            await self._keep_granted(owner, before)
        return [str(lock) for lock in sorted(added)]

    async def held(self, owner: Owner) -> dict[str, str]:
        """What the owner holds."""
        held = self._locks.held(owner)
        return {str(lock): held[lock].value for lock in sorted(held)}

    async def intersect(self, owner: Owner, locks: list[str]) -> None:
        """Release all that is not listed."""
        if not self._is_unknown(owner):
            self._locks.intersect(owner, [Lock.parse(name) for name in locks])
            await self._saved(None)

    async def release_all(self, owner: Owner, number: int) -> None:
        """Release everything. A restart must not find it held: its owner has gone on and releases nothing again."""
        if self._is_overtaken(owner, number):
            return
        self._locks.release_all(owner)
        await self._saved(None)

    async def set_priority(self, owner: Owner, priority: int) -> None:
        """Move a waiting update."""
        self._locks.set_priority(owner, priority)

    async def remove(self, owner: Owner, lock: str) -> None:
        """Forget a lock."""
        if not self._is_unknown(owner):
            self._locks.remove(owner, Lock.parse(lock))
            await self._saved(None)

    async def overview(self, owner: Owner) -> list[WireLock]:
        """Every lock that is held or waited for."""
        return [wire_lock(status) for status in self._locks.overview()]

    async def look_for_dead(self, owner: Owner) -> None:
        """Take from the dead what they have, now."""
        self._look_for_dead()

    async def readings(self, owner: Owner) -> Readings:
        """What this daemon has counted."""
        return self._readings()

    async def spread_rapi_files(self, owner: Owner, limit: float) -> list[tuple[str, str]]:
        """Bring what changed in rapi/ to the nodes; the candidates that do not have it after so many seconds, and why."""
        return await self._spread(min(max(limit, 0.0), SPREAD_LIMIT))

    def _is_overtaken(self, owner: Owner, number: int) -> bool:
        """Whether a later request of the owner's process was heard before this one, over another connection."""
        process = owner.livelock  # it numbers the requests of all its jobs, one after the other
        if process not in self._newest and len(self._newest) >= MANY_PROCESSES:
            self._newest = {
                each: newest for each, newest in self._newest.items() if self._is_alive(Owner(owner.job_id, each))
            }
        newest = self._newest[process] = max(number, self._newest.get(process, 0))
        return number < newest

    def _check_owner(self, owner: Owner) -> None:
        if not self._is_alive(owner):
            raise LockError(f"{owner} cannot take locks: no living process holds its livelock {owner.livelock!r}")
        if self._is_unknown(owner):
            raise LockError(
                f"{owner} cannot take more locks: the list of those it holds (locks.data) was damaged; run the job again"
            )

    # What a restart must find

    async def _keep_granted(self, owner: Owner, before: Mapping[Lock, Mode]) -> None:
        """Nobody is told of a lock that a restart would give to another.

        @raise LockError: it cannot be written down; the owner has what it had before.
        """
        try:
            await self._saved(KEEP_LIMIT)
        except OSError as error:
            gained = [
                lock for lock, mode in self._locks.held(owner).items() if before.get(lock) not in (mode, EXCLUSIVE)
            ]
            self._locks.update(owner, [LockRequest(lock, before.get(lock)) for lock in gained])
            raise LockError(f"no locks can be given out: cannot write {reason(error)}") from None

    async def _keep_reserved(self, effect: Effect) -> None:
        """@raise ConfigurationError: it cannot be written down; what was reserved is so until its owner ends."""
        if effect not in KEPT:
            return
        try:
            await self._saved(KEPT[effect])
        except OSError as error:
            raise ConfigurationError(f"nothing can be reserved: cannot write {reason(error)}") from None


def wire_lock(status: LockStatus) -> WireLock:
    """A lock's state as it is sent."""
    return (
        str(status.lock),
        status.mode.value if status.mode is not None else None,
        [wire_owner(owner) for owner in status.owners],
        [(mode.value, [wire_owner(owner) for owner in owners]) for mode, owners in status.pending],
    )


def wire_owner(owner: Owner) -> WireOwner:
    """An owner as it is sent."""
    return (owner.job_id, owner.livelock)
