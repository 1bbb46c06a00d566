"""What others may know of locking: the values that they pass, and the seams ILocks and ILockOverview."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence

import attrs
from zope.interface import Interface

from ganeti_tx.errors import LockError
from ganeti_tx.locking.levels import BGL, NAL, Level, Lock, Mode

__all__ = [
    "BGL",
    "DEFAULT_PRIORITY",
    "NAL",
    "AttemptFailed",
    "ILockOverview",
    "ILocks",
    "Level",
    "Lock",
    "LockError",
    "LockRequest",
    "LockStatus",
    "Mode",
    "Owner",
]

#: Priorities run from -20 (first) to 19 (last), as of design-2.3, Job priorities.
DEFAULT_PRIORITY = 0

RELEASE = "release"


class AttemptFailed(LockError):
    """The locks did not come free within the time allowed, or one of them was removed meanwhile; nothing changed.

    Who asks again by what the configuration says then may have them.
    """


@attrs.frozen(cache_hash=True)
class Owner:
    """Who holds locks: a job, and the livelock file that shows whether its process lives."""

    job_id: int
    livelock: str

    def __str__(self) -> str:
        return f"job {self.job_id}"


@attrs.frozen
class LockRequest:
    """One lock and the mode it shall be held in afterwards; the mode None releases it."""

    lock: Lock
    mode: Mode | None

    @classmethod
    def shared(cls, lock: Lock) -> LockRequest:
        """Ask for a lock together with other readers, or downgrade one that is held exclusively."""
        return cls(lock, Mode.SHARED)

    @classmethod
    def exclusive(cls, lock: Lock) -> LockRequest:
        """Ask for a lock alone, or upgrade one that is held shared."""
        return cls(lock, Mode.EXCLUSIVE)

    @classmethod
    def release(cls, lock: Lock) -> LockRequest:
        """Give a lock back; one that is not held is no error."""
        return cls(lock, None)

    @classmethod
    def parse(cls, name: str, word: str) -> LockRequest:
        """Read WConfD's pair, such as ("node/a", "shared"); the words are shared, exclusive and release.

        @raise LockError: no such lock or word.
        """
        modes: dict[str, Mode | None] = {RELEASE: None, **{mode.value: mode for mode in Mode}}
        if word not in modes:
            raise LockError(f"cannot set {name[:300]} to {word[:40]!r}; allowed are {', '.join(modes)}")
        return cls(Lock.parse(name), modes[word])

    def to_wire(self) -> tuple[str, str]:
        """The pair that `parse` reads."""
        return str(self.lock), RELEASE if self.mode is None else self.mode.value


@attrs.frozen
class LockStatus:
    """One lock that is held or waited for: the fields name, mode, owner and pending of the lock query."""

    lock: Lock
    mode: Mode | None
    owners: tuple[Owner, ...]
    pending: tuple[tuple[Mode, tuple[Owner, ...]], ...]
    """In the order in which they will be served; shared waiters that go together stand together."""


class ILocks(Interface):
    """The locks of one owner. An owner waits for one update at a time."""

    def update(
        requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY, timeout: float | None = None
    ) -> Awaitable[None]:
        """Bring the listed locks to the listed modes, all together; other locks stay as they are.

        While it waits, the owner keeps what it held and gets nothing new. Cancelling leaves the queue.

        @param timeout: seconds to wait; 0 does not wait; None waits until it is granted, cancelled or the owner ends.
        @raise AttemptFailed: not all could be had in time, or one was removed meanwhile.
        @raise LockError: the order of locks is violated (the message names both locks), the owner waits already,
            or the owner ended. Nothing changed.
        """

    def opportunistic_union(requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY) -> Awaitable[set[Lock]]:
        """Take at once what is free and in order, past nobody who waits; the locks that were added or upgraded."""

    def held() -> Awaitable[dict[Lock, Mode]]:
        """The locks held now."""

    def intersect(locks: Iterable[Lock]) -> Awaitable[None]:
        """Release all that is not listed."""

    def release_all() -> Awaitable[None]:
        """Release everything; an update that still waits fails with LockError."""

    def take_over() -> Awaitable[dict[Lock, Mode]]:
        """Make the locks that the job's dead processes have left this owner's; answers what it holds then.

        @raise LockError: another process of the job lives.
        """

    def set_priority(priority: int) -> Awaitable[None]:
        """Move an update that waits to another place in the queue; its time of arrival counts on."""

    def remove(lock: Lock) -> Awaitable[None]:
        """Forget a lock whose object was deleted; who waits for it gets LockError.

        @raise LockError: this owner does not hold it exclusively.
        """


class ILockOverview(Interface):
    """What the lock query reads."""

    def overview() -> list[LockStatus]:
        """Every lock that is held or waited for, in the order of locks."""
