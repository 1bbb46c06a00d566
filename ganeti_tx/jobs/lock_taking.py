"""One attempt to take a unit's locks: level by level, the big one first, within the time that the opcode's priority gives it."""

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import ECode, JobCanceled, OpPrereqError
from ganeti_tx.jobs.cancellation import NOT_BEGUN
from ganeti_tx.jobs.lock_attempts import attempt_limit
from ganeti_tx.locking.interfaces import ILocks, LockRequest
from ganeti_tx.locking.levels import BGL, Level, Mode
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.queue.job import QueuedOp

#: So often in one attempt a unit may choose its locks.
CHOICES = 5


@define
class LockTaking:
    """Waits for the locks of one job's opcodes, one after the other; `stop` ends the wait, and every later one."""

    locks: ILocks
    clock: IReactorTime
    _stop: bool = False
    _waiting: "Deferred[None] | None" = None

    def stop(self) -> None:
        """Wait no longer."""
        self._stop = True
        if self._waiting is not None:
            self._waiting.cancel()

    async def take(self, unit: LogicalUnit[Any], op: Callable[[], QueuedOp]) -> None:
        """Take them all; names are expanded under the big lock.

        @param op: gives the opcode as it is now: its priority may change while it waits.

        @raise AttemptFailed: not all could be had in time, or one was removed meanwhile; what was taken is still held.
        @raise OpPrereqError: the unit refuses, or whenever they are held others are needed.
        @raise JobCanceled, CancelledError: the job was stopped.
        """
        limit = attempt_limit(op())
        end = None if limit is None else self.clock.seconds() + limit
        big = LockRequest(BGL, Mode.EXCLUSIVE if unit.exclusive_cluster else Mode.SHARED)
        await self._acquire([big], op().priority, end)
        await unit.expand_names()
        for _ in range(CHOICES):
            await self._take_levels(unit, op, end)
            held_since = self.clock.seconds()
            if not (changed := await unit.outdated()):
                return
            if end is not None:
                end += self.clock.seconds() - held_since  # whoever waits for answers of nodes does not wait for locks
            await self.locks.intersect([BGL])
        raise OpPrereqError(f"{changed}; so it was {CHOICES} times, try again", ECode.STATE)

    async def _take_levels(self, unit: LogicalUnit[Any], op: Callable[[], QueuedOp], end: float | None) -> None:
        for level in Level:
            wanted = list(await unit.locks_at(level))
            if wanted:
                await self._acquire(wanted, op().priority, end)
            wanted = list(await unit.locks_if_free_at(level))
            if wanted:
                await self.locks.opportunistic_union(wanted, op().priority)

    async def _acquire(self, wanted: Sequence[LockRequest], priority: int, end: float | None) -> None:
        if self._stop:
            raise JobCanceled(NOT_BEGUN)
        left = None if end is None else max(end - self.clock.seconds(), 0.0)
        self._waiting = Deferred.fromCoroutine(self._update(wanted, priority, left))
        try:
            await self._waiting
        finally:
            self._waiting = None

    async def _update(self, wanted: Sequence[LockRequest], priority: int, limit: float | None) -> None:
        await self.locks.update(wanted, priority, limit)
