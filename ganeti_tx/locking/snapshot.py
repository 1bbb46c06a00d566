"""The held locks as data, for locks.data: a restarted WConfD goes on with them. Who waited asks again."""

from collections.abc import Iterable

import msgspec

from ganeti_tx.errors import LockError
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.levels import Lock, Mode
from ganeti_tx.locking.table import LockTable


class HeldLocks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one owner holds: each lock as WConfD spells it, with its mode."""

    job_id: int
    livelock: str
    locks: dict[str, Mode]


def to_wire(table: LockTable) -> list[HeldLocks]:
    """All held locks of a table, owner by owner."""
    holdings = [(owner, table.held(owner)) for owner in table.owners()]
    return [
        HeldLocks(owner.job_id, owner.livelock, {str(lock): held[lock] for lock in sorted(held)})
        for owner, held in holdings
        if held
    ]


def from_wire(holdings: Iterable[HeldLocks]) -> LockTable:
    """A table in which these locks are held.

    @raise LockError: a lock is unknown, or two owners hold what only one can.
    """
    table = LockTable()
    for held in holdings:
        locks = {Lock.parse(name): mode for name, mode in held.locks.items()}
        table.restore(Owner(held.job_id, held.livelock), locks)
    return table


def encode(table: LockTable) -> bytes:
    """The content of locks.data."""
    return msgspec.json.encode(to_wire(table))


def decode(data: bytes) -> LockTable:
    """Read the content of locks.data.

    @raise LockError: it is damaged, or contradicts itself.
    """
    try:
        return from_wire(msgspec.json.decode(data, type=list[HeldLocks]))
    except msgspec.DecodeError as error:  # a ValidationError is one, too
        raise LockError(f"cannot read the list of held locks: {error}")
