"""ILocks over the WConfD protocol."""

from collections.abc import Iterable, Sequence

import attrs
from zope.interface import implementer

from ganeti_tx.errors import LockError
from ganeti_tx.locking.interfaces import DEFAULT_PRIORITY, AttemptFailed, ILocks, LockRequest, Owner
from ganeti_tx.locking.levels import Lock, Mode
from ganeti_tx.wconfd.protocol.link import Link
from ganeti_tx.wconfd.protocol.own_calls import (
    FREE_LOCKS,
    INTERSECT_LOCKS,
    LIST_LOCKS,
    OPPORTUNISTIC_UNION,
    REMOVE_LOCK,
    SET_LOCK_PRIORITY,
    TAKE_OVER_LOCKS,
    UPDATE_LOCKS,
)


@implementer(ILocks)
@attrs.define(eq=False)
class RemoteLocks:
    """An update that waits has its own connection; cancelling it hangs up, and WConfD takes it out of the queue.

    An update and a release are numbered: a release that follows a cancelled update may come to WConfD before it.
    """

    _link: Link
    _owner: Owner
    _updating: bool = attrs.field(default=False, init=False)

    async def update(
        self, requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY, timeout: float | None = None
    ) -> None:
        """See ILocks."""
        if self._updating:
            raise LockError(f"{self._owner} cannot ask for more locks before its last update has ended")
        number, wire = self._link.next_number(), [request.to_wire() for request in requests]

        def arguments(passed: float) -> tuple[object, ...]:
            return number, wire, priority, None if timeout is None else max(timeout - passed, 0.0)

        self._updating = True
        try:
            failed = await self._link.wait(UPDATE_LOCKS, self._owner, arguments)
        finally:
            self._updating = False
        if failed is not None:
            raise AttemptFailed(failed)

    async def opportunistic_union(self, requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY) -> set[Lock]:
        """See ILocks."""
        wire = [request.to_wire() for request in requests]
        added = await self._link.ask(OPPORTUNISTIC_UNION, self._owner, wire, priority)
        return {Lock.parse(name) for name in added}

    async def held(self) -> dict[Lock, Mode]:
        """See ILocks."""
        held = await self._link.ask(LIST_LOCKS, self._owner)
        return {Lock.parse(name): Mode(mode) for name, mode in held.items()}

    async def intersect(self, locks: Iterable[Lock]) -> None:
        """See ILocks."""
        await self._link.ask(INTERSECT_LOCKS, self._owner, [str(lock) for lock in locks])

    async def release_all(self) -> None:
        """See ILocks."""
        await self._link.ask(FREE_LOCKS, self._owner, self._link.next_number())

    async def take_over(self) -> dict[Lock, Mode]:
        """See ILocks."""
        held = await self._link.ask(TAKE_OVER_LOCKS, self._owner)
        return {Lock.parse(name): Mode(mode) for name, mode in held.items()}

    async def set_priority(self, priority: int) -> None:
        """See ILocks."""
        await self._link.ask(SET_LOCK_PRIORITY, self._owner, priority)

    async def remove(self, lock: Lock) -> None:
        """See ILocks."""
        await self._link.ask(REMOVE_LOCK, self._owner, str(lock))
