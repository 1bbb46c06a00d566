"""The queue of those who wait: by priority, then arrival, with shared waiters grouped, indexed by lock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import attrs

from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.levels import Level, Lock, Mode

#: Priority, then number of arrival; the lower is served first.
Place = tuple[int, int]

_NONE: Mapping[Ticket, Mode] = MappingProxyType({})


@attrs.define(eq=False)
class Ticket:
    """One update that was asked for: what it adds, what it gives up when granted, and its place in the queue."""

    owner: Owner
    wants: dict[Lock, Mode]
    """Locks to take or to upgrade."""
    gives: dict[Lock, Mode | None]
    """Held locks to release (None) or to downgrade."""
    priority: int
    arrival: int
    granted: bool = False
    groups: dict[Lock, SharedGroup] = attrs.field(factory=dict, repr=False)

    @property
    def place(self) -> Place:
        """Where this ticket stands in the queue."""
        return self.priority, self.arrival

    def place_at(self, lock: Lock) -> Place:
        """Where it stands for one lock: shared waiters stand where the first of their group does."""
        group = self.groups.get(lock)
        return self.place if group is None else group.place

    def describe(self) -> str:
        """What it waits for, for a message."""
        names = [f"{lock} ({mode.value})" for lock, mode in sorted(self.wants.items())]
        return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


@attrs.define(eq=False)
class SharedGroup:
    """Shared waiters for one lock at one priority. It takes no more members once one of them was granted."""

    place: Place
    members: int = 0


@attrs.define
class WaitQueue:
    """All tickets that wait, found by owner and by lock."""

    _by_owner: dict[Owner, Ticket] = attrs.field(factory=dict, init=False)
    _levels: tuple[dict[Lock, dict[Ticket, Mode]], ...] = attrs.field(
        factory=lambda: tuple({} for _ in Level), init=False
    )
    _open: dict[tuple[Lock, int], SharedGroup] = attrs.field(factory=dict, init=False)

    def of(self, owner: Owner) -> Ticket | None:
        """The ticket an owner waits on."""
        return self._by_owner.get(owner)

    def __iter__(self) -> Iterator[Ticket]:
        return iter(self._by_owner.values())

    def __contains__(self, ticket: Ticket) -> bool:
        return self._by_owner.get(ticket.owner) is ticket

    def add(self, ticket: Ticket) -> None:
        """Put a ticket in line; its shared locks join those that wait for the same, if the group is still open."""
        self._by_owner[ticket.owner] = ticket
        for lock, mode in ticket.wants.items():
            self._levels[lock.level].setdefault(lock, {})[ticket] = mode
            if mode is Mode.SHARED:
                group = self._open.setdefault((lock, ticket.priority), SharedGroup(ticket.place))
                group.place = min(group.place, ticket.place)  # a new priority may bring in an older ticket
                group.members += 1
                ticket.groups[lock] = group

    def remove(self, ticket: Ticket) -> None:
        """Take a ticket out. Its groups keep their place, and close to newcomers if it was granted.

        Were they left open, a stream of readers could keep a writer out for ever.
        """
        del self._by_owner[ticket.owner]
        for lock in ticket.wants:
            waiting = self._levels[lock.level][lock]
            del waiting[ticket]
            if not waiting:
                del self._levels[lock.level][lock]
        for lock, group in ticket.groups.items():
            group.members -= 1
            key = (lock, ticket.priority)
            if (ticket.granted or not group.members) and self._open.get(key) is group:
                del self._open[key]
        ticket.groups = {}

    def locks(self) -> Iterator[Lock]:
        """Every lock that somebody waits for."""
        for level in self._levels:
            yield from level

    def waiting(self, lock: Lock) -> Mapping[Ticket, Mode]:
        """A live view of who waits for just this lock."""
        return self._levels[lock.level].get(lock, _NONE)

    def overlapping(self, lock: Lock) -> Iterator[tuple[Ticket, Mode]]:
        """Each ticket that wants the lock, its group lock or a member of it, once for each such lock, with the mode."""
        if lock.is_set:
            for waiting in self._levels[lock.level].values():
                yield from waiting.items()
            return
        yield from self.waiting(lock).items()
        if lock.group is not None:
            yield from self.waiting(lock.group).items()

    def wanting(self, locks: Iterable[Lock]) -> set[Ticket]:
        """Every ticket that wants something that overlaps one of the locks."""
        found: set[Ticket] = set()
        for lock in set(locks):
            found.update(ticket for ticket, _ in self.overlapping(lock))
        return found
