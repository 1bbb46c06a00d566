"""Archiving jobs by their age: when somebody asks, and by itself, so that the queue does not grow without end."""

from collections.abc import Callable

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.errors import JobQueueError
from ganeti_tx.queue.files.job_head import JobHead
from ganeti_tx.queue.files.store import JobStore

log = Logger()

#: Seconds after its end for which a job is kept in the queue (Ganeti 3.0 watcher table, job_age).
AGE = 6 * 3600
#: Seconds between two looks for such jobs, the first of which comes that long after the start.
INTERVAL = 300.0
#: Seconds of one look; what is left is found by the next.
PASS = 10
#: Jobs archived, and jobs looked at, before others have their turn.
BATCH, LOOKED_AT = 50, 5000


@define(eq=False)
class Archiving:
    """Moves ended jobs to the archive. Those that a process `is_followed` by still copy their end to the candidates."""

    store: JobStore
    clock: IReactorTime
    now: Callable[[], float]
    is_followed: Callable[[int], bool]
    _next: IDelayedCall | None = field(default=None, init=False)
    _stopped: bool = field(default=False, init=False)

    async def archive(self, age: int, timeout: float) -> tuple[int, int]:
        """Archive jobs that ended `age` seconds ago or earlier (-1: all), for `timeout` seconds.

        Gives how many were archived and how many were not looked at. @raise JobQueueError: one cannot be moved.
        """
        deadline = self.clock.seconds() + timeout
        waiting = await self._old(age)
        archived = 0
        while waiting and self.clock.seconds() < deadline and not self._stopped:
            batch, waiting = waiting[:BATCH], waiting[BATCH:]
            archived += await self.store.archive(batch)
            await deferLater(self.clock, 0)
        return archived, len(waiting)

    async def _old(self, age: int) -> list[int]:
        ids = list(self.store.live)
        found: list[int] = []
        for start in range(0, len(ids), LOOKED_AT):
            if start:
                await deferLater(self.clock, 0)
            found += [job_id for job_id in ids[start : start + LOOKED_AT] if self._is_old(job_id, age)]
        return found

    def _is_old(self, job_id: int, age: int) -> bool:
        job = self.store.glance(job_id)
        if not isinstance(job, JobHead) or self.is_followed(job_id):
            return False
        end = job.end_timestamp
        return age < 0 or end is None or end[0] + end[1] / 1e6 <= self.now() - age

    # By itself

    def start(self) -> None:
        """Look from time to time, not at once: a daemon that starts has other things to do."""
        if not self._stopped:
            self._next = self.clock.callLater(INTERVAL, self._look)

    def stop(self) -> None:
        """Nothing more is begun."""
        self._stopped = True
        if self._next is not None and self._next.active():
            self._next.cancel()

    def _look(self) -> None:
        looking = Deferred.fromCoroutine(self.archive(AGE, PASS))
        looking.addCallbacks(self._tell, self._failed).addBoth(lambda _: self.start())

    def _tell(self, result: tuple[int, int]) -> None:
        archived, left = result
        if archived:
            log.info("{archived} jobs that ended long ago were archived, {left} are left", archived=archived, left=left)

    def _failed(self, failure: Failure) -> None:
        if failure.check(JobQueueError):
            log.error("old jobs are not archived: {error}", error=failure.value)
        else:
            log.failure("old jobs are not archived", failure)
