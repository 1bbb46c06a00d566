"""The locks of one owner: ILocks over a lock table in the same process."""

from collections.abc import Iterable, Sequence

import attrs
from zope.interface import implementer

from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import DEFAULT_PRIORITY, ILocks, LockRequest, Owner
from ganeti_tx.locking.levels import Lock, Mode


@implementer(ILocks)
@attrs.frozen
class OwnerLocks:
    """Binds each call to its owner."""

    _locks: DeferredLocks
    _owner: Owner

    async def update(
        self, requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY, timeout: float | None = None
    ) -> None:
        """See ILocks."""
        await self._locks.update(self._owner, requests, priority, timeout)

    async def opportunistic_union(self, requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY) -> set[Lock]:
        """See ILocks."""
        return self._locks.opportunistic_union(self._owner, requests, priority)

    async def held(self) -> dict[Lock, Mode]:
        """See ILocks."""
        return self._locks.held(self._owner)

    async def intersect(self, locks: Iterable[Lock]) -> None:
        """See ILocks."""
        self._locks.intersect(self._owner, locks)

    async def release_all(self) -> None:
        """See ILocks."""
        self._locks.release_all(self._owner)

    async def take_over(self) -> dict[Lock, Mode]:
        """See ILocks; whoever else has the job's number is taken for dead."""
        for other in self._locks.owners():
            if other.job_id == self._owner.job_id and other != self._owner:
                self._locks.take_over(self._owner, other)
        return self._locks.held(self._owner)

    async def set_priority(self, priority: int) -> None:
        """See ILocks."""
        self._locks.set_priority(self._owner, priority)

    async def remove(self, lock: Lock) -> None:
        """See ILocks."""
        self._locks.remove(self._owner, lock)
