"""Reading the files of jobs that change: at once, but at each no more often than now and then."""

from collections.abc import Callable

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

#: Seconds between two reads of one job: a long log is read as a whole each time.
PAUSE = 0.1


@define
class JobReads:
    """`read` takes in what a job's file holds, and so tells of it."""

    read: Callable[[int], object]
    clock: IReactorTime
    _resting: set[int] = field(factory=set)
    _again: set[int] = field(factory=set)

    def changed(self, job_id: int) -> None:
        """A job may have changed."""
        if job_id in self._resting:
            self._again.add(job_id)
            return
        self._resting.add(job_id)
        self.clock.callLater(PAUSE, self._rested, job_id)
        self.read(job_id)

    def _rested(self, job_id: int) -> None:
        self._resting.discard(job_id)
        if job_id in self._again:
            self._again.discard(job_id)
            self.changed(job_id)
