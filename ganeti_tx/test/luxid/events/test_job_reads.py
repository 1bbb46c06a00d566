"""How often the file of a job is read."""

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxid.events.job_reads import PAUSE, JobReads


class JobReadsTests(SynchronousTestCase):
    """Reads that are written down."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.read: list[int] = []
        self.reads = JobReads(self.read.append, self.clock)

    def test_at_once(self) -> None:
        """The first change is read when it is told, for each job."""
        self.reads.changed(1)
        self.reads.changed(2)
        self.assertEqual(self.read, [1, 2])

    def test_not_all_the_time(self) -> None:
        """Changes that follow are read together after a pause, and none is forgotten."""
        for _ in range(5):
            self.reads.changed(1)
        self.assertEqual(self.read, [1])
        self.clock.advance(PAUSE)
        self.assertEqual(self.read, [1, 1])
        self.clock.advance(PAUSE)
        self.assertEqual((self.read, self.clock.getDelayedCalls()), ([1, 1], []))
        self.reads.changed(1)
        self.assertEqual(self.read, [1, 1, 1])
