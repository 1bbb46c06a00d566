"""The rules against deadlock: which locks an owner may ask for, given what it holds (daemons.txt, Locking)."""

from collections.abc import Mapping, Sequence

from ganeti_tx.errors import LockError
from ganeti_tx.locking.interfaces import LockRequest, Owner
from ganeti_tx.locking.levels import Level, Lock, Mode

#: Absolute range of priorities (design-2.3, Job priorities).
HIGHEST_PRIORITY, LOWEST_PRIORITY = -20, 19


def check_priority(priority: int) -> None:
    """@raise LockError: the number is no priority."""
    if not HIGHEST_PRIORITY <= priority <= LOWEST_PRIORITY:
        raise LockError(f"no such priority: {priority}; allowed are {HIGHEST_PRIORITY} to {LOWEST_PRIORITY}")


def split(
    held: Mapping[Lock, Mode], requests: Sequence[LockRequest]
) -> tuple[dict[Lock, Mode], dict[Lock, Mode | None]]:
    """Sort an update into what it takes or upgrades and what it releases or downgrades; what is so already is neither.

    @raise LockError: one lock is asked for in two modes.
    """
    asked: dict[Lock, Mode | None] = {}
    for request in requests:
        if asked.setdefault(request.lock, request.mode) is not request.mode:
            raise LockError(f"{request.lock} is asked for in two modes at a time")
    wants: dict[Lock, Mode] = {}
    gives: dict[Lock, Mode | None] = {}
    for lock, mode in asked.items():
        before = held.get(lock)
        if mode is not None and (before is None or not before.covers(mode)):
            wants[lock] = mode
        elif mode is not before:
            gives[lock] = mode
    return wants, gives


def check_order(owner: Owner, held: Mapping[Lock, Mode], wants: Mapping[Lock, Mode]) -> None:
    """Every lock to take or upgrade comes after all that is held, and rule three of group locks holds.

    What the same update would release counts as held, for it is held while the update waits.

    @raise LockError: names the lock asked for and the lock held.
    """
    last = max(held, default=None)
    for lock in sorted(wants):
        if last is not None and lock < last:
            levels = ", ".join(level.wire_name for level in Level)
            raise LockError(
                f"{owner} asks for {lock} while it holds {last}: lock order violated; the order is {levels}, "
                f"on a level the whole level first, then by name"
            )
    for lock, mode in wants.items():
        check_group(owner, held, wants, lock, mode)


def check_group(owner: Owner, held: Mapping[Lock, Mode], wants: Mapping[Lock, Mode], lock: Lock, mode: Mode) -> None:
    """Rule three: no exclusive lock on a member together with a shared one on its group.

    @raise LockError: names both locks.
    """
    group = lock.group
    if mode is Mode.EXCLUSIVE and group is not None and Mode.SHARED in (held.get(group), wants.get(group)):
        raise LockError(
            f"{owner} asks for {lock} (exclusive) while it holds {group} (shared): lock order violated; "
            f"release {group} first, or take it exclusively"
        )
