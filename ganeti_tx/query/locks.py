"""Locks as a resource of queries: those that are held or waited for."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from inspect import isawaitable

from attrs import frozen

from ganeti_tx.locking.interfaces import LockStatus, Owner
from ganeti_tx.query.collect import ALL_AT_ONCE
from ganeti_tx.query.language.field import Field, Gives, Kind, Need, by_name, computed

#: Gives the present state of the lock table.
Locks = Callable[[], Sequence[LockStatus] | Awaitable[Sequence[LockStatus]]]


def mode(status: LockStatus) -> str | None:
    """How the lock is held; None when nobody holds it."""
    return status.mode.value if status.mode is not None else None


def jobs_of(owners: Iterable[Owner]) -> list[str]:
    """The numbers of their jobs, as text."""
    return [str(owner.job_id) for owner in owners]


def owners(status: LockStatus) -> list[str] | None:
    """Who holds the lock; None when nobody does so."""
    return jobs_of(status.owners) or None


def pending(status: LockStatus) -> list[list[object]]:
    """Who waits, as [mode, owners], first come first."""
    return [[wanted.value, jobs_of(waiting)] for wanted, waiting in status.pending]


LOCK_FIELDS = by_name(
    [
        computed("name", "Name", Kind.OTHER, "Lock name", lambda status: str(status.lock)),
        computed(
            "mode", "Mode", Kind.OTHER, "How the lock is held: shared, exclusive or not at all", mode, gives=Gives.MAYBE
        ),
        computed("owner", "Owner", Kind.OTHER, "Jobs that hold the lock", owners, gives=Gives.MAYBE),
        computed("pending", "Pending", Kind.OTHER, "Jobs that wait for the lock, with the mode they want", pending),
    ]
)


@frozen
class LockRows:
    """Rows are lock states, in the order of locks; there is no context. A free lock has no row and is no error."""

    locks: Locks
    name_field: str = "name"
    fields: Mapping[str, Field] = LOCK_FIELDS
    at_a_time: int = ALL_AT_ONCE

    async def rows(
        self, names: Sequence[object] | None, wanted: frozenset[str], strict: bool
    ) -> tuple[Sequence[LockStatus], None]:
        """As Resource.rows says."""
        answer = self.locks()
        found = (await answer) if isawaitable(answer) else answer
        if names is None:
            return found, None
        by_lock = {str(status.lock): status for status in found}
        return [by_lock[str(name)] for name in names if str(name) in by_lock], None

    async def collect(self, rows: Sequence[LockStatus], context: None, needs: frozenset[Need]) -> None:
        """Nothing to ask nodes for."""
