"""The lock table: who holds what, who waits, and who is next. Pure: no reactor, no I/O, no clock.

Who gets a lock. An update is granted whole or not at all, and while it waits its owner keeps what it held and gets
nothing new. The queue is by priority, then arrival; shared waiters of one priority stand, for a lock, where the first
of them does (design-2.3, Locking). An update is granted when

 1. nobody else holds a lock that conflicts with one that it takes, and
 2. nobody ahead of it waits for a lock that conflicts with one that it takes (an upgrade does not queue at the lock
    that its owner holds already: those who wait for it could not have it before its owner is done).

Rule 2 alone would deadlock: V waits for {a, b}, X holds a and asks for b behind V. So an owner that is itself waited
for (somebody wants what it holds) passes those ahead, but no more than it would if they took their locks one by one
in order: it stops only at locks up to the first that the one ahead cannot have because somebody holds it.

Why this does not deadlock. Call the first lock that a waiter W cannot have because it is held, g(W). Suppose all
owners wait. The first of the queue has nobody ahead, so it has a g and a holder there, who is waited for and waits
too. From a holder of g(W) go on: all it takes comes after g(W), as the order of locks has it, or is an upgrade of
g(W) itself. If it waits for a held lock, its own g is later. If it waits for V ahead at lock r, then r <= g(V) by the
exception: go to V, whose g is not earlier. So g rises for ever, over finitely many locks; contradiction. Two upgrades
of one lock would be the one step on which g stands still twice, and are refused; the upgrade of a group lock would
go back before the members that others hold, and never waits.

Why nobody starves. Behind the first of a priority nobody may take a lock up to its g, so its g only rises, and
members of a level are finitely many. A group of readers closes when the first of them is granted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count

import attrs

from ganeti_tx.errors import LockError
from ganeti_tx.locking.holdings import Holdings
from ganeti_tx.locking.interfaces import DEFAULT_PRIORITY, LockRequest, LockStatus, Owner
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.locking.order import check_group, check_order, check_priority, split
from ganeti_tx.locking.waiters import Ticket, WaitQueue


@attrs.frozen
class Outcome:
    """What came of an update: its ticket, and all tickets that were granted by it (its own among them, or not)."""

    ticket: Ticket
    granted: list[Ticket]


@attrs.frozen
class Union:
    """What an opportunistic union added, and whom that let through."""

    acquired: set[Lock]
    granted: list[Ticket]


@attrs.frozen(kw_only=True)
class Removal:
    """Whose wait a removed lock ended, and whom that let through."""

    refused: list[Ticket]
    granted: list[Ticket]


@attrs.define
class LockTable:
    """All locks of the cluster. Every call leaves nobody waiting who could be granted, and reports who was."""

    _holdings: Holdings = attrs.field(factory=Holdings, init=False)
    _queue: WaitQueue = attrs.field(factory=WaitQueue, init=False)
    _arrivals: count[int] = attrs.field(factory=count, init=False)

    # What is so

    def owners(self) -> list[Owner]:
        """Everybody who holds a lock or waits for one."""
        return list(dict.fromkeys([*self._holdings.owners(), *(ticket.owner for ticket in self._queue)]))

    def held(self, owner: Owner) -> dict[Lock, Mode]:
        """What an owner holds."""
        return dict(self._holdings.of(owner))

    def held_at(self) -> Counter[tuple[Level, Mode]]:
        """How many locks of a level are held in a mode."""
        return self._holdings.counts()

    def waiting(self, owner: Owner) -> Ticket | None:
        """The ticket that an owner waits on."""
        return self._queue.of(owner)

    def overview(self) -> list[LockStatus]:
        """Every lock that is held or waited for, in the order of locks."""
        return [self._status(lock) for lock in sorted({*self._holdings.locks(), *self._queue.locks()})]

    def _status(self, lock: Lock) -> LockStatus:
        holders = self._holdings.holders(lock)
        mode = Mode.EXCLUSIVE if Mode.EXCLUSIVE in holders.values() else Mode.SHARED
        groups: dict[object, tuple[Mode, list[Owner]]] = {}
        waiting = self._queue.waiting(lock)
        for ticket in sorted(waiting, key=lambda ticket: (ticket.place_at(lock), ticket.place)):
            _, owners = groups.setdefault(ticket.groups.get(lock, ticket), (waiting[ticket], []))
            owners.append(ticket.owner)
        return LockStatus(
            lock,
            mode if holders else None,
            tuple(sorted(holders, key=lambda owner: (owner.job_id, owner.livelock))),
            tuple((mode, tuple(owners)) for mode, owners in groups.values()),
        )

    # What owners do

    def update(self, owner: Owner, requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY) -> Outcome:
        """Grant an update, or queue it. Releases and downgrades in it happen when it is granted.

        @raise LockError: the order of locks is violated, the upgrade could deadlock, or the owner waits already;
            nothing has changed.
        """
        check_priority(priority)
        earlier = self._queue.of(owner)
        if earlier is not None:
            raise LockError(f"{owner} cannot ask for more locks while it waits for {earlier.describe()}")
        held = self._holdings.of(owner)
        wants, gives = split(held, requests)
        check_order(owner, held, wants)
        self._check_upgrades(owner, wants)
        ticket = Ticket(owner, wants, gives, priority, next(self._arrivals))
        return Outcome(ticket, self._enter(ticket))

    def opportunistic_union(
        self, owner: Owner, requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY
    ) -> Union:
        """Take what is free, in order and wanted by nobody ahead; the rest is left. An owner that waits gets nothing.

        @raise LockError: no such priority, or a lock is asked for in two modes.
        """
        check_priority(priority)
        wants, _ = split(self._holdings.of(owner), requests)
        if self._queue.of(owner) is not None:
            return Union(set(), [])
        last = max(self._holdings.of(owner), default=None)
        acquired: set[Lock] = set()
        for lock in sorted(wants):
            if (last is None or lock >= last) and self._is_free(owner, lock, wants[lock], priority):
                self._holdings.assign(owner, lock, wants[lock])
                acquired.add(lock)
        return Union(acquired, self._settle(self._affected(acquired)))

    def intersect(self, owner: Owner, locks: Iterable[Lock]) -> list[Ticket]:
        """Release all that is not listed; returns the tickets that were granted by it."""
        keep = set(locks)
        return self._release(owner, [lock for lock in self._holdings.of(owner) if lock not in keep])

    def drop(self, owner: Owner) -> list[Ticket]:
        """Release everything of an owner and take it out of the queue; returns the tickets that were granted by it."""
        touched = self._leave(self._queue.of(owner))
        return self._release(owner, list(self._holdings.of(owner)), touched)

    def withdraw(self, ticket: Ticket) -> list[Ticket]:
        """Take a ticket out of the queue, if it still waits; returns the tickets that were granted by it."""
        return self._settle(self._leave(ticket))

    def set_priority(self, owner: Owner, priority: int) -> list[Ticket]:
        """Move the ticket an owner waits on, if any, keeping its arrival; returns the tickets granted by it.

        @raise LockError: no such priority.
        """
        check_priority(priority)
        ticket = self._queue.of(owner)
        if ticket is None or ticket.priority == priority:
            return []
        touched = self._leave(ticket)
        ticket.priority = priority
        return self._enter(ticket, touched)

    def remove(self, owner: Owner, lock: Lock) -> Removal:
        """Forget a lock whose object is gone; those who wait for it are refused.

        @raise LockError: the owner does not hold it exclusively (design-2.1, Locking improvements), or it is a
            group lock.
        """
        if lock.is_set:
            raise LockError(f"{lock} cannot be removed: it stands for the whole level")
        if not self._holdings.covers(owner, lock, Mode.EXCLUSIVE):
            raise LockError(f"{owner} cannot remove {lock}: it does not hold it exclusively")
        refused = sorted(self._queue.waiting(lock), key=lambda ticket: ticket.place)
        touched = set[Ticket]().union(*[self._leave(ticket) for ticket in refused])
        return Removal(refused=refused, granted=self._release(owner, [lock], touched))

    def restore(self, owner: Owner, locks: Mapping[Lock, Mode]) -> None:
        """Take over what an owner held before a restart, without asking in which order.

        @raise LockError: it conflicts with what another holds.
        """
        for lock, mode in locks.items():
            if self._holdings.conflicts(owner, lock, mode):
                raise LockError(f"{owner} cannot hold {lock} ({mode.value}): another owner holds it")
            self._holdings.assign(owner, lock, mode)

    def take_over(self, owner: Owner, dead: Owner) -> list[Ticket]:
        """Let an owner hold what another held, who is out of the queue then; returns the tickets that were granted by it."""
        touched = self._leave(self._queue.of(dead))
        for lock, mode in self.held(dead).items():
            mine = self._holdings.of(owner).get(lock)
            self._holdings.assign(dead, lock, None)
            self._holdings.assign(owner, lock, Mode.EXCLUSIVE if Mode.EXCLUSIVE in (mode, mine) else mode)
        return self._settle(touched)

    # How the queue moves

    def _check_upgrades(self, owner: Owner, wants: Mapping[Lock, Mode]) -> None:
        """Of two owners that hold a lock shared and want it exclusively neither could go on: refuse the second."""
        held = self._holdings.of(owner)
        for lock in wants.keys() & held.keys():
            for other in self._queue.waiting(lock):
                if lock in self._holdings.of(other.owner):
                    raise LockError(f"{owner} cannot upgrade {lock}: {other.owner} holds it and waits for the same")

    def _enter(self, ticket: Ticket, touched: Collection[Ticket] = ()) -> list[Ticket]:
        """Queue a ticket and grant what can be.

        Owners that hold what it wants are waited for from now on, and may pass others where they could not before.

        @raise LockError: it upgrades a group lock and would have to wait.
        """
        self._queue.add(ticket)
        held = self._holdings.of(ticket.owner)
        for lock in ticket.wants:
            if lock.is_set and lock in held and not self._grantable(ticket):
                self._queue.remove(ticket)
                raise LockError(
                    f"{ticket.owner} cannot upgrade {lock}: others hold locks of that level or it must wait"
                )
        holders = set[Owner]().union(*[self._holdings.overlapping_holders(lock) for lock in ticket.wants])
        promoted = [other for holder in holders if (other := self._queue.of(holder)) is not None]
        return self._settle({ticket, *promoted, *touched})

    def _leave(self, ticket: Ticket | None) -> set[Ticket]:
        """Take a ticket out of the queue; returns those that it may have kept back."""
        if ticket is None or ticket not in self._queue:
            return set()
        self._queue.remove(ticket)
        return self._queue.wanting(ticket.wants)

    def _release(self, owner: Owner, locks: Collection[Lock], touched: Collection[Ticket] = ()) -> list[Ticket]:
        for lock in locks:
            self._holdings.assign(owner, lock, None)
        return self._settle(self._affected(locks).union(touched))

    def _affected(self, locks: Iterable[Lock]) -> set[Ticket]:
        """Whose chances change when other owners hold the locks: those who want them, and those behind these."""
        wanting = self._queue.wanting(locks)
        return wanting | self._queue.wanting(lock for ticket in wanting for lock in ticket.wants)

    def _settle(self, candidates: Collection[Ticket]) -> list[Ticket]:
        """Grant in the order of the queue whoever of the candidates can be, and whom that lets through in turn."""
        granted: list[Ticket] = []
        while candidates:
            changed: set[Lock] = set()
            for ticket in sorted(candidates, key=lambda ticket: ticket.place):
                if ticket in self._queue and self._grantable(ticket):
                    self._grant(ticket)
                    granted.append(ticket)
                    changed.update(ticket.wants, ticket.gives)
            candidates = self._affected(changed)
        return granted

    def _grant(self, ticket: Ticket) -> None:
        ticket.granted = True
        self._queue.remove(ticket)
        for lock, mode in ticket.wants.items():
            self._holdings.assign(ticket.owner, lock, mode)
        for lock, lower in ticket.gives.items():
            if lock in self._holdings.of(ticket.owner):  # it may have been released while the ticket waited
                self._holdings.assign(ticket.owner, lock, lower)

    # Who may have what

    def _grantable(self, ticket: Ticket) -> bool:
        needs = self._needs(ticket)
        if any(self._holdings.conflicts(ticket.owner, lock, mode) for lock, mode in needs):
            return False
        held = self._holdings.of(ticket.owner)
        ahead = [
            (lock, other)
            for lock, mode in needs
            if lock not in held
            for other in self._ahead(ticket.owner, lock, mode, ticket.place_at(lock))
        ]
        if not ahead:
            return True
        return self._is_waited_for(ticket.owner) and not any(self._blocks(other, lock) for lock, other in ahead)

    def _is_free(self, owner: Owner, lock: Lock, mode: Mode, priority: int) -> bool:
        """Whether a lock can be had at once: in keeping with what is held by all, and wanted by nobody ahead."""
        held = self._holdings.of(owner)
        if self._holdings.covers(owner, lock, mode):
            return True
        try:
            check_group(owner, held, {}, lock, mode)
        except LockError:
            return False
        if self._holdings.conflicts(owner, lock, mode):
            return False
        return lock in held or not self._ahead(owner, lock, mode, (priority, next(self._arrivals)))

    def _needs(self, ticket: Ticket) -> list[tuple[Lock, Mode]]:
        """What the ticket takes that its owner has not already by a group lock."""
        owner = ticket.owner
        return [(lock, mode) for lock, mode in ticket.wants.items() if not self._holdings.covers(owner, lock, mode)]

    def _ahead(self, owner: Owner, lock: Lock, mode: Mode, place: tuple[int, int]) -> list[Ticket]:
        """Those who stand before a place and want the lock in a way that conflicts."""
        return [
            other
            for other, wanted in self._queue.overlapping(lock)
            if other.owner != owner and other.place < place and wanted.conflicts(mode)
        ]

    def _is_waited_for(self, owner: Owner) -> bool:
        """Whether somebody wants what the owner holds."""
        return any(
            other.owner != owner and wanted.conflicts(mode)
            for lock, mode in self._holdings.of(owner).items()
            for other, wanted in self._queue.overlapping(lock)
        )

    def _blocks(self, ticket: Ticket, lock: Lock) -> bool:
        """Whether a ticket keeps even those whom others wait for from a lock: up to the first that it cannot have."""
        for own, mode in sorted(self._needs(ticket)):
            first = self._holdings.first_conflict(ticket.owner, own, mode)
            if first is not None:
                return lock <= first
        return False
