"""What WConfD answers beside the operations of the configuration: locks (daemons.txt, Locking), and what it tells of itself.

Each method's signature is what `methods.py` declares it by, after the owner of the request.
"""

from collections.abc import Awaitable, Callable, Mapping

import attrs
from twisted.internet.defer import CancelledError, Deferred

from ganeti_tx.errors import LockError
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import AttemptFailed, LockRequest, LockStatus, Owner
from ganeti_tx.locking.levels import Lock, Mode
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.runtime.files_errors import reason

#: A job's number and its livelock file (daemons.txt, Statelessness of the protocol).
WireOwner = tuple[int, str]
#: A lock and the mode it shall have, as `LockRequest.to_wire` writes it.
WireRequest = tuple[str, str]
#: Name, mode, owners, and who waits: as `LockStatus`.
WireLock = tuple[str, str | None, list[WireOwner], list[tuple[str, list[WireOwner]]]]

#: Seconds for which a lock that is granted, but cannot be written down, is held back before it is refused.
KEEP_LIMIT = 10.0
#: Seconds that a caller may wait for candidates at most.
SPREAD_LIMIT = 60.0
EXCLUSIVE = Mode.EXCLUSIVE

#: When so many processes have asked for locks, those that have died are forgotten.
MANY_PROCESSES = 1000


async def nobody_lacks(limit: float) -> list[tuple[str, str]]:
    """There are no other nodes."""
    return []


@attrs.define(eq=False)
class OwnMethods:
    """`saved` waits, for so many seconds or without end, until locks are where a restart finds them; `is_alive` asks for an
    owner's process; `look_for_dead` is called before somebody waits, for what he waits for may be held by nobody any more;
    `is_unknown` tells the jobs whose locks an earlier daemon lost.
    """

    _locks: DeferredLocks
    _saved: Callable[[float | None], Awaitable[None]]
    _is_alive: Callable[[Owner], bool]
    _look_for_dead: Callable[[], None]
    _is_unknown: Callable[[Owner], bool] = lambda owner: False
    _readings: Callable[[], Readings] = Readings
    _spread: Callable[[float], Awaitable[list[tuple[str, str]]]] = nobody_lacks
    _newest: dict[str, int] = attrs.field(factory=dict, init=False)
    _updates: dict[Owner, "Deferred[None]"] = attrs.field(factory=dict, init=False)

    async def update(
        self, owner: Owner, number: int, requests: list[WireRequest], priority: int, timeout: float | None
    ) -> str | None:
        """Wait for the locks; why it was given up when the time (seconds) was over, or a lock was removed.

        A request that is sent again takes the place of the one whose connection was lost.
        """
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
        except AttemptFailed as error:
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

    async def take_over(self, owner: Owner) -> dict[str, str]:
        """Give the owner what dead processes of its job held; one that does not find it again can ask again."""
        self._check_owner(owner)
        others = [other for other in self._locks.owners() if other.job_id == owner.job_id and other != owner]
        if (alive := next(filter(self._is_alive, others), None)) is not None:
            raise LockError(f"{owner} cannot take over locks: its process with the livelock {alive.livelock} lives")
        for other in others:
            self._locks.take_over(owner, other)
        await self._saved(None)
        return await self.held(owner)

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

    async def echo(self, owner: Owner, text: str) -> str:
        """What was said, for those who want to know whether somebody listens."""
        return text

    async def look_for_dead(self, owner: Owner) -> None:
        """Somebody knows that a process died: what it had is free when the answer comes."""
        self._look_for_dead()

    async def readings(self, owner: Owner) -> Readings:
        """What this daemon has counted; luxid shows it when it runs apart (doc/design/metrics.rst)."""
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
