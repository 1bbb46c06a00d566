"""How often the file of a job is looked at."""

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxid.events.job_looks import PAUSE, JobLooks


class JobLookTests(SynchronousTestCase):
    """Looks that are written down."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.looked: list[int] = []
        self.looks = JobLooks(self.looked.append, self.clock)

    def test_at_once(self) -> None:
        """The first change is looked at when it is told, for each job."""
        self.looks.changed(1)
        self.looks.changed(2)
        self.assertEqual(self.looked, [1, 2])

    def test_not_all_the_time(self) -> None:
        """Changes that follow are looked at together after a pause, and none is forgotten."""
        for _ in range(5):
            self.looks.changed(1)
        self.assertEqual(self.looked, [1])
        self.clock.advance(PAUSE)
        self.assertEqual(self.looked, [1, 1])
        self.clock.advance(PAUSE)
        self.assertEqual((self.looked, self.clock.getDelayedCalls()), ([1, 1], []))
        self.looks.changed(1)
        self.assertEqual(self.looked, [1, 1, 1])
