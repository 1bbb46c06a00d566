"""Waiting for a job to change, without polling."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from attrs import define, field
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import JobLost
from ganeti_tx.queue.fields import job_getters
from ganeti_tx.queue.job import QueuedJob
from ganeti_tx.runtime.condition import Condition

#: However long a client wants to wait, it gets an answer after this many seconds (Ganeti 3.0 LUXI table).
LONGEST_WAIT = 89


@define
class JobChanges:
    """Who waits for which job. `listeners` are told of every change, and must not fail."""

    clock: IReactorTime
    find: Callable[[int], QueuedJob | None]
    listeners: list[Callable[[int], object]] = field(factory=list)
    _conditions: dict[int, Condition] = field(factory=dict)

    def announce(self, job_id: int) -> None:
        """Wake everybody who waits for this job."""
        for listener in self.listeners:
            listener(job_id)
        if (condition := self._conditions.pop(job_id, None)) is not None:
            condition.notify_all()

    async def wait(
        self, job_id: int, names: Sequence[str], previous: Any, previous_serial: int | None, timeout: float
    ) -> tuple[list[Any], list[Any]]:
        """The field values and new log entries, as soon as they differ from the previous ones or the job is over.

        @raise JobLost: there is no such live job.
        """
        getters = job_getters(names)
        deadline = self.clock.seconds() + min(max(timeout, 0), LONGEST_WAIT)
        while True:
            job = self.find(job_id)
            if job is None:
                raise JobLost(f"job {job_id} is not in the queue; if it is archived, 'gnt-job info {job_id}' shows it")
            values, entries = [get(job) for get in getters], new_entries(job, previous_serial)
            left = deadline - self.clock.seconds()
            if as_json(values) != previous or entries or job.finalized or left <= 0:
                return values, entries
            await self._next_change(job_id, left)

    async def _next_change(self, job_id: int, limit: float) -> None:
        """Returns at the job's next change, or when the time is up."""
        condition = self._conditions.setdefault(job_id, Condition(self.clock))
        try:
            await condition.wait(limit)
        finally:
            if not condition.is_waited_for and self._conditions.get(job_id) is condition:
                del self._conditions[job_id]


def new_entries(job: QueuedJob, after: int | None) -> list[Any]:
    """The log entries of all opcodes whose serial number is greater; every one for None."""
    return [entry for op in job.ops for entry in op.log if after is None or entry[0] > after]


def as_json(value: Any) -> Any:
    """The value as it comes back from a client: tuples, at any depth, have become lists."""
    return msgspec.json.decode(msgspec.json.encode(value))
