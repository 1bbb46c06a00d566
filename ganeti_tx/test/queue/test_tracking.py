"""Who hears at once of a running job's changes."""

from attrs import define, field
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.tracking import LOOK_INTERVAL, Tracking


@define
class Heard(JobChanges):
    """Remembers what was announced."""

    heard: list[int] = field(factory=list)

    def announce(self, job_id: int) -> None:
        """Remember."""
        self.heard.append(job_id)


class TrackingTests(SynchronousTestCase):
    """Tracking of jobs 1, 2 and 3."""

    def setUp(self) -> None:
        self.clock = Clock()
        changes = Heard(self.clock, lambda job_id: None)
        self.heard = changes.heard
        self.running = [1, 2, 3]
        self.limit = 2
        self.tracking = Tracking(changes, self.running, lambda: self.limit)

    def test_tracked(self) -> None:
        """Changes of the first so many jobs are told at once, each."""
        for job_id in (1, 2, 1):
            self.tracking.changed(job_id)
        self.assertEqual(self.heard, [1, 2, 1])

    def test_beyond_the_limit(self) -> None:
        """Changes of the others are told together after some seconds, and again when there are more."""
        for _ in range(2):
            self.tracking.changed(3)
            self.tracking.changed(3)
            self.assertEqual(self.heard, [])
            self.clock.advance(LOOK_INTERVAL)
            self.assertEqual(self.heard, [3])
            self.heard.clear()

    def test_moves_up(self) -> None:
        """When a tracked job ends, the next one is tracked; a changed limit counts at once."""
        self.running.remove(1)
        self.tracking.changed(3)
        self.assertEqual(self.heard, [3])
        self.limit = 1
        self.tracking.changed(3)
        self.assertEqual(self.heard, [3])
