"""The lock table for those who can wait: Deferreds, time-outs, cancellation, and owners that die."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from zope.interface import implementer

from ganeti_tx.errors import LockError
from ganeti_tx.locking.interfaces import (
    DEFAULT_PRIORITY,
    AttemptFailed,
    ILockOverview,
    LockRequest,
    LockStatus,
    Owner,
)
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.locking.table import LockTable
from ganeti_tx.locking.waiters import Ticket
from ganeti_tx.metrics.locks import WAIT
from ganeti_tx.metrics.tally import Tally


def _no_listener() -> None:
    """Nobody wants to know."""


@attrs.define(eq=False)
class _Wait:
    """An update under way: from the queue until its Deferred has fired."""

    ticket: Ticket
    deferred: Deferred[None]
    since: float
    timer: IDelayedCall | None = None

    def finish(self, error: LockError | None = None) -> None:
        """Stop the clock and fire."""
        self.stop_timer()
        if error is None:
            self.deferred.callback(None)
        else:
            self.deferred.errback(error)

    def stop_timer(self) -> None:
        """The time no longer counts."""
        if self.timer is not None and self.timer.active():
            self.timer.cancel()
        self.timer = None


@implementer(ILockOverview)
@attrs.define(eq=False)
class DeferredLocks:
    """Wraps a table. The listener is called after each change of what is held, before anybody hears that he got it."""

    _table: LockTable
    _clock: IReactorTime
    _on_change: Callable[[], None] = _no_listener
    _tally: Tally = attrs.field(factory=Tally, kw_only=True)
    _waits: dict[Owner, _Wait] = attrs.field(factory=dict, init=False)

    def update(
        self,
        owner: Owner,
        requests: Sequence[LockRequest],
        priority: int = DEFAULT_PRIORITY,
        timeout: float | None = None,
    ) -> Deferred[None]:
        """Fires once every lock is as asked, all together; cancelling leaves the queue and wakes those behind.

        @param timeout: seconds; 0 does not wait, None is without limit.
        @raise LockError: the update cannot be queued. What else ends the wait fails the Deferred: AttemptFailed, or
            LockError when the owner ends.
        """
        if owner in self._waits:
            raise LockError(f"{owner} cannot ask for more locks before its last update has ended")
        outcome = self._table.update(owner, requests, priority)
        wait = _Wait(outcome.ticket, Deferred(lambda _: self._give_up(owner)), self._clock.seconds())
        self._waits[owner] = wait
        deferred = wait.deferred
        self._announce(outcome.granted)
        if self._waits.get(owner) is wait and timeout is not None:
            if timeout > 0:
                wait.timer = self._clock.callLater(timeout, self._time_out, owner, timeout)
            else:
                self._time_out(owner, timeout)
        return deferred

    def opportunistic_union(
        self, owner: Owner, requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY
    ) -> set[Lock]:
        """Take what is free now; the locks that were added or upgraded.

        @raise LockError: no such priority, or a lock is asked for in two modes.
        """
        union = self._table.opportunistic_union(owner, requests, priority)
        self._announce(union.granted, changed=bool(union.acquired))
        return union.acquired

    def held(self, owner: Owner) -> dict[Lock, Mode]:
        """What an owner holds."""
        return self._table.held(owner)

    def intersect(self, owner: Owner, locks: Iterable[Lock]) -> None:
        """Release all that is not listed."""
        before = len(self._table.held(owner))
        granted = self._table.intersect(owner, locks)
        self._announce(granted, changed=len(self._table.held(owner)) != before)

    def set_priority(self, owner: Owner, priority: int) -> None:
        """Move an update that waits to another place in the queue.

        @raise LockError: no such priority.
        """
        self._announce(self._table.set_priority(owner, priority))

    def release_all(self, owner: Owner) -> None:
        """Release everything of an owner; its update, should it wait, fails."""
        self._drop(owner, LockError(f"{owner} released its locks while it waited for more"))

    def owner_died(self, owner: Owner) -> None:
        """Release everything of an owner whose process is gone; its update, should it wait, fails."""
        self._drop(owner, LockError(f"{owner} has died"))

    def take_over(self, owner: Owner, dead: Owner) -> None:
        """Give an owner what a dead one held; the update of the dead one, should it wait, fails."""
        granted = self._table.take_over(owner, dead)
        wait = self._waits.pop(dead, None)
        self._announce(granted, changed=True)
        if wait is not None:
            self._record(wait, "failed")
            wait.finish(LockError(f"{dead} has died"))

    def abandon(self, owner: Owner) -> None:
        """An owner whose process is gone waits for nothing any more, but keeps what it holds."""
        if owner in self._waits:
            self._give_up_for(owner, LockError(f"{owner} has died"))

    def restore(self, owner: Owner, locks: Mapping[Lock, Mode]) -> None:
        """Let an owner hold what it held before a restart. @raise LockError: it conflicts with what another holds."""
        self._table.restore(owner, locks)
        self._on_change()

    def remove(self, owner: Owner, lock: Lock) -> None:
        """Forget a lock whose object was deleted; who waits for it fails with an error that names it.

        @raise LockError: the owner does not hold it exclusively.
        """
        removal = self._table.remove(owner, lock)
        refused = [wait for ticket in removal.refused if (wait := self._waits.pop(ticket.owner, None)) is not None]
        self._announce(removal.granted, changed=True)
        for wait in refused:
            self._record(wait, "failed")
            wait.finish(AttemptFailed(f"{lock} was removed while {wait.ticket.owner} waited for it"))

    def owners(self) -> list[Owner]:
        """Everybody who holds a lock or waits for one: those whose livelock files are to be watched."""
        return self._table.owners()

    def overview(self) -> list[LockStatus]:
        """Every lock that is held or waited for, in the order of locks."""
        return self._table.overview()

    def held_at(self) -> Counter[tuple[Level, Mode]]:
        """How many locks of a level are held in a mode."""
        return self._table.held_at()

    def waiting_at(self) -> Counter[Level]:
        """How many owners wait for locks of a level."""
        return Counter(level for wait in self._waits.values() for level in {lock.level for lock in wait.ticket.wants})

    def _record(self, wait: _Wait, result: str) -> None:
        """Count how a wait ended. A request that only gives up locks never waits and is not counted."""
        if wait.ticket.wants:
            first = next(iter(wait.ticket.wants))
            self._tally.observe(WAIT, self._clock.seconds() - wait.since, first.level.wire_name, result)

    def _drop(self, owner: Owner, error: LockError) -> None:
        held = bool(self._table.held(owner))
        granted = self._table.drop(owner)
        wait = self._waits.pop(owner, None)
        self._announce(granted, changed=held)
        if wait is not None:
            self._record(wait, "failed")
            wait.finish(error)

    def _time_out(self, owner: Owner, timeout: float) -> None:
        wait = self._waits.pop(owner)
        granted = self._table.withdraw(wait.ticket)
        self._announce(granted)
        self._record(wait, "timeout")
        wait.finish(AttemptFailed(f"{owner} waited {timeout:g} s in vain for {wait.ticket.describe()}"))

    def _give_up_for(self, owner: Owner, error: LockError) -> None:
        wait = self._waits.pop(owner)
        self._announce(self._table.withdraw(wait.ticket))
        self._record(wait, "failed")
        wait.finish(error)

    def _give_up(self, owner: Owner) -> None:
        """The Deferred was cancelled; it fails itself with CancelledError.

        An update that was granted, and only had not been told yet, keeps its locks: they end with the owner.
        """
        wait = self._waits.pop(owner)
        wait.stop_timer()
        self._record(wait, "failed")
        self._announce(self._table.withdraw(wait.ticket))

    def _announce(self, granted: Sequence[Ticket], changed: bool = False) -> None:
        """Tell the listener, then those who got their locks.

        Whoever is told may call back in here, so what an earlier one did to a later one is looked up afresh.
        """
        if changed or any(ticket.wants or ticket.gives for ticket in granted):
            self._on_change()
        for ticket in granted:
            wait = self._waits.get(ticket.owner)
            if wait is not None and wait.ticket is ticket:
                del self._waits[ticket.owner]
                self._record(wait, "granted")
                wait.finish()
