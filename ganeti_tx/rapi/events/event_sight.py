"""Which events somebody may see. A scoped user sees what his own queries would show him."""

from collections.abc import Sequence
from typing import Protocol

from attrs import define, field

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.model.events import Kind
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.events.event_window import Item

#: Of so many jobs it is remembered whether they may be seen.
REMEMBERED = 1000
OF_JOBS = frozenset({Kind.JOB, Kind.OPCODE, Kind.LOG})


class Sight(Protocol):
    """What one caller may see."""

    async def look(self, items: Sequence[Item]) -> None:
        """Find out what must be known to judge these. @raise GanetiError, HttpError: it cannot be; then nothing is sent."""

    def sees(self, item: Item) -> bool:
        """Whether one of them may be sent."""


class WholeSight:
    """Everything."""

    async def look(self, items: Sequence[Item]) -> None:
        """As Sight says."""

    def sees(self, item: Item) -> bool:
        """As Sight says."""
        return True


@define
class ScopedSight:
    """Instances and jobs that the caller's own LUXI shows; of all else nothing.

    An instance that he saw before, or sees now, may be told of once more: he learns that it is gone.
    """

    luxi: AsyncCalls
    _now: frozenset[str] | None = None
    _before: frozenset[str] = frozenset()
    _jobs: dict[int, bool] = field(factory=dict)

    async def look(self, items: Sequence[Item]) -> None:
        """As Sight says."""
        if self._now is None or any(item.kind not in OF_JOBS for item in items):
            rows = await self.luxi.query_instances([], ["name"])
            now = frozenset(str(name) for (name,) in rows)
            self._before, self._now = now if self._now is None else self._now, now
            self._jobs.clear()
        if len(self._jobs) > REMEMBERED:
            self._jobs.clear()
        unknown = {job for item in items if item.kind in OF_JOBS and (job := job_of(item)) not in self._jobs}
        if unknown:
            rows = await self.luxi.query_jobs(sorted(unknown), ["id", "status"])
            seen = {job_id for job_id, status in rows if status is not None}
            self._jobs.update((job, job in seen) for job in unknown)

    def sees(self, item: Item) -> bool:
        """As Sight says."""
        if item.kind in OF_JOBS:
            return self._jobs.get(job_of(item), False)
        if item.kind == Kind.INSTANCE:
            return item.facts["name"] in (self._now or frozenset()) | self._before
        return False


def job_of(item: Item) -> int:
    """The job that an event is about."""
    return int(item.facts["job"])


def sight_of(caller: Caller, luxi: AsyncCalls) -> Sight:
    """What a caller may see. @param luxi: his own, which shows him nothing else."""
    return ScopedSight(luxi) if caller.scopes else WholeSight()
