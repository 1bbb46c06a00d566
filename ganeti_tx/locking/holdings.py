"""Which owner holds which lock in which mode, and whom that keeps out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

import attrs

from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.levels import Level, Lock, Mode

Outer = TypeVar("Outer")
Inner = TypeVar("Inner")

_NOTHING: Mapping[Lock, Mode] = MappingProxyType({})
_NOBODY: Mapping[Owner, Mode] = MappingProxyType({})


@attrs.define
class _LevelHoldings:
    """One level: the holders of each lock, and for each owner how many members it holds in each mode.

    The counts answer "does anybody else hold a member" without a walk over thousands of locks.
    """

    holders: dict[Lock, dict[Owner, Mode]] = attrs.Factory(dict)
    members: dict[Owner, dict[Mode, int]] = attrs.Factory(dict)

    def count(self, owner: Owner, mode: Mode, step: int) -> None:
        """Note that an owner holds one member more or less in a mode."""
        counts = self.members.setdefault(owner, dict.fromkeys(Mode, 0))
        counts[mode] += step
        if not any(counts.values()):
            del self.members[owner]


def _conflict(holders: Mapping[Owner, Mode], owner: Owner, mode: Mode) -> bool:
    return any(held.conflicts(mode) for other, held in holders.items() if other != owner)


@attrs.define
class Holdings:
    """All locks that are held. Keeps its indexes in step; whether a lock may be taken is for the caller to ask."""

    _by_owner: dict[Owner, dict[Lock, Mode]] = attrs.field(factory=dict, init=False)
    _levels: tuple[_LevelHoldings, ...] = attrs.field(
        factory=lambda: tuple(_LevelHoldings() for _ in Level), init=False
    )

    def owners(self) -> list[Owner]:
        """Everybody who holds something."""
        return list(self._by_owner)

    def of(self, owner: Owner) -> Mapping[Lock, Mode]:
        """A live view of what an owner holds."""
        return self._by_owner.get(owner, _NOTHING)

    def holders(self, lock: Lock) -> Mapping[Owner, Mode]:
        """A live view of who holds just this lock; its group lock aside."""
        return self._levels[lock.level].holders.get(lock, _NOBODY)

    def locks(self) -> Iterator[Lock]:
        """Every lock that somebody holds."""
        for level in self._levels:
            yield from level.holders

    def counts(self) -> Counter[tuple[Level, Mode]]:
        """How many locks of a level are held in a mode."""
        return Counter(
            (lock.level, next(iter(holders.values())))
            for level in self._levels
            for lock, holders in level.holders.items()
        )

    def assign(self, owner: Owner, lock: Lock, mode: Mode | None) -> None:
        """Let an owner hold a lock in a mode from now on; None takes it away."""
        level = self._levels[lock.level]
        before = self.of(owner).get(lock)
        if before is mode:
            return
        if not lock.is_set:
            for counted, step in ((before, -1), (mode, 1)):
                if counted is not None:
                    level.count(owner, counted, step)
        if mode is not None:
            self._by_owner.setdefault(owner, {})[lock] = mode
            level.holders.setdefault(lock, {})[owner] = mode
            return
        _forget(self._by_owner, owner, lock)
        _forget(level.holders, lock, owner)

    def covers(self, owner: Owner, lock: Lock, mode: Mode) -> bool:
        """Whether what an owner holds, the group lock included, gives it the lock in that mode already."""
        own = self.of(owner)
        return any(one in own and own[one].covers(mode) for one in (lock, lock.group) if one is not None)

    def conflicts(self, owner: Owner, lock: Lock, mode: Mode) -> bool:
        """Whether what others hold keeps an owner from a lock."""
        if _conflict(self.holders(lock), owner, mode):
            return True
        if not lock.is_set:
            return lock.group is not None and _conflict(self.holders(lock.group), owner, mode)
        return any(
            counts[Mode.EXCLUSIVE] > 0 or mode is Mode.EXCLUSIVE
            for other, counts in self._levels[lock.level].members.items()
            if other != owner
        )

    def first_conflict(self, owner: Owner, lock: Lock, mode: Mode) -> Lock | None:
        """How far an owner would get that took a lock, a group lock member by member: the first it cannot have."""
        if not self.conflicts(owner, lock, mode):
            return None
        if not lock.is_set or _conflict(self.holders(lock), owner, mode):
            return lock
        holders = self._levels[lock.level].holders
        return min(member for member, held in holders.items() if not member.is_set and _conflict(held, owner, mode))

    def overlapping_holders(self, lock: Lock) -> set[Owner]:
        """Everybody who holds the lock, its group lock or one of its members."""
        if lock.is_set:
            return {*self._levels[lock.level].members, *self.holders(lock)}
        return {*self.holders(lock), *(self.holders(lock.group) if lock.group is not None else ())}


def _forget(index: dict[Outer, dict[Inner, Mode]], outer: Outer, inner: Inner) -> None:
    del index[outer][inner]
    if not index[outer]:
        del index[outer]
