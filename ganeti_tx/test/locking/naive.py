"""The rules of the lock table once more, without an index: what the random walk holds the table against."""

from __future__ import annotations

import attrs

from ganeti_tx.locking.interfaces import LockRequest, Owner
from ganeti_tx.locking.levels import Lock, Mode

X = Mode.EXCLUSIVE
S = Mode.SHARED
Locks = dict[Lock, Mode]


@attrs.define(eq=False)
class Waiter:
    """One update that waits."""

    owner: Owner
    wants: Locks
    gives: dict[Lock, Mode | None]
    place: tuple[int, int]
    places: dict[Lock, tuple[int, int]]


def clash(lock: Lock, mode: Mode, other: Lock, other_mode: Mode) -> bool:
    """Whether two owners cannot have these two."""
    same = lock == other or (lock.level == other.level and (lock.name is None or other.name is None))
    return same and X in (mode, other_mode)


@attrs.define
class NaiveTable:
    """Holds and waiters as plain lists; every question is asked of every pair."""

    held: dict[Owner, Locks] = attrs.Factory(dict)
    waiters: dict[Owner, Waiter] = attrs.Factory(dict)
    groups: dict[tuple[Lock, int], list[Waiter]] = attrs.Factory(dict)

    def of(self, owner: Owner) -> Locks:
        """What an owner holds."""
        return self.held.setdefault(owner, {})

    def enqueue(self, owner: Owner, requests: list[LockRequest], place: tuple[int, int]) -> None:
        """Split an update and put it in line."""
        own = self.of(owner)
        wants: Locks = {}
        gives: dict[Lock, Mode | None] = {}
        for request in requests:
            lock, mode = request.lock, request.mode
            before = own.get(lock)
            if mode == before:
                continue
            if mode is None or before is X:
                gives[lock] = mode
            else:
                wants[lock] = mode
        waiter = Waiter(owner, wants, gives, place, {})
        self.insert(waiter)

    def insert(self, waiter: Waiter) -> None:
        """Join the open groups of readers."""
        for lock, mode in waiter.wants.items():
            if mode is S:
                group = self.groups.setdefault((lock, waiter.place[0]), [])
                group.append(waiter)
                place = min(waiter.place, group[0].places.get(lock, waiter.place))
                for member in group:
                    member.places[lock] = place
        self.waiters[waiter.owner] = waiter

    def leave(self, waiter: Waiter, granted: bool = False) -> None:
        """Out of the queue; a group closes when one of its members was granted."""
        del self.waiters[waiter.owner]
        for lock in waiter.wants:
            key = (lock, waiter.place[0])
            group = self.groups.get(key, [])
            if waiter in group:
                group.remove(waiter)
                if granted or not group:
                    del self.groups[key]

    def grant(self, owner: Owner) -> None:
        """Apply an update."""
        waiter = self.waiters[owner]
        self.leave(waiter, granted=True)
        own = self.of(owner)
        own.update(waiter.wants)
        for lock, mode in waiter.gives.items():
            if mode is None:
                own.pop(lock, None)
            elif lock in own:
                own[lock] = mode

    def has(self, owner: Owner, lock: Lock, mode: Mode) -> bool:
        """Whether the owner has it already, by the lock or its group lock."""
        return any(self.of(owner).get(one) in (X, mode) for one in (lock, Lock(lock.level) if lock.level else lock))

    def needs(self, waiter: Waiter) -> Locks:
        """What it has not yet."""
        return {lock: mode for lock, mode in waiter.wants.items() if not self.has(waiter.owner, lock, mode)}

    def hindrances(self, owner: Owner, lock: Lock, mode: Mode) -> list[Lock]:
        """Locks of others that keep the owner from one."""
        return [
            other
            for holder, locks in self.held.items()
            if holder != owner
            for other, other_mode in locks.items()
            if clash(lock, mode, other, other_mode)
        ]

    def reach(self, waiter: Waiter) -> Lock | None:
        """The first lock it cannot have because it is held."""
        stops = [
            max(lock, other)
            for lock, mode in self.needs(waiter).items()
            for other in self.hindrances(waiter.owner, lock, mode)
            if not (lock.name is None and other.name is not None and lock in self.hindrances(waiter.owner, lock, mode))
        ]
        return min(stops, default=None)

    def waited_for(self, owner: Owner) -> bool:
        """Whether somebody wants what the owner holds."""
        return any(
            clash(lock, mode, want, want_mode)
            for lock, mode in self.of(owner).items()
            for other in self.waiters.values()
            if other.owner != owner
            for want, want_mode in other.wants.items()
        )

    def grantable(self, waiter: Waiter) -> bool:
        """Rules 1 and 2 of the table, with the exception."""
        needs = self.needs(waiter)
        if any(self.hindrances(waiter.owner, lock, mode) for lock, mode in needs.items()):
            return False
        passing = self.waited_for(waiter.owner)
        for lock, mode in needs.items():
            if lock in self.of(waiter.owner):
                continue
            for other in self.waiters.values():
                if other.place >= waiter.places.get(lock, waiter.place):
                    continue
                if not any(clash(lock, mode, want, want_mode) for want, want_mode in other.wants.items()):
                    continue
                stop = self.reach(other)
                if not passing or (stop is not None and lock <= stop):
                    return False
        return True

    def faults(self) -> list[str]:
        """Pairs of owners that hold what only one may."""
        owners = list(self.held)
        return [
            f"{first} {lock} {mode} and {second} {other} {other_mode}"
            for index, first in enumerate(owners)
            for second in owners[index + 1 :]
            for lock, mode in self.held[first].items()
            for other, other_mode in self.held[second].items()
            if clash(lock, mode, other, other_mode)
        ]
