"""Telling of running jobs' changes: of some at once, of the others now and then, so that a crowd keeps luxid from nothing."""

from collections.abc import Callable, Iterable
from itertools import islice

from attrs import define, field
from twisted.internet.interfaces import IDelayedCall

from ganeti_tx.queue.changes import JobChanges

#: Seconds between two looks at the jobs beyond the limit.
LOOK_INTERVAL = 3.0


@define
class Tracking:
    """The first so many of the running jobs are followed change by change (cluster parameter max_tracked_jobs).

    @ivar running: the ids of the running jobs, in the order in which they started.
    """

    changes: JobChanges
    running: Iterable[int]
    limit: Callable[[], int]
    _late: set[int] = field(factory=set)
    _look_due: IDelayedCall | None = None

    def changed(self, job_id: int) -> None:
        """A running job's file changed."""
        if job_id in islice(self.running, self.limit()):
            self.changes.announce(job_id)
            return
        self._late.add(job_id)
        if self._look_due is None:
            self._look_due = self.changes.clock.callLater(LOOK_INTERVAL, self._look)

    def _look(self) -> None:
        self._look_due = None
        late, self._late = self._late, set()
        for job_id in sorted(late):
            self.changes.announce(job_id)
