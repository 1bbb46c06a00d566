"""Old jobs leave the queue by themselves, and ended ones do not fill it."""

import errno

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobQueueFull
from ganeti_tx.model.opcodes import OpTestDelay
from ganeti_tx.queue.archiving import AGE, BATCH, INTERVAL, PASS, Archiving
from ganeti_tx.test.queue.test_scheduler import Queue, run_now

DELAY = [OpTestDelay(duration=0.0)]


class QueueCase(SynchronousTestCase):
    """A queue in memory; jobs end when the test says so."""

    def setUp(self) -> None:
        """Nothing is submitted yet."""
        self.queue = Queue()
        run_now(self.queue.store.load())

    def submit(self, count: int = 1) -> Deferred[list[int]]:
        """So many jobs at once."""
        return Deferred.fromCoroutine(self.queue.scheduler.submit([DELAY] * count))

    def end_all(self) -> None:
        """Every job succeeds."""
        while any(not runner.over.called for runner in self.queue.launcher.runners if runner.job is not None):
            for runner in list(self.queue.launcher.runners):
                if runner.job is not None and not runner.over.called:
                    self.queue.finish(runner)


class OpenLimitTests(QueueCase):
    """How many jobs may be in the queue."""

    def setUp(self) -> None:
        """Three may wait or run."""
        super().setUp()
        self.queue.scheduler.open_limit = 3

    def test_open(self) -> None:
        """More than that may not wait and run; the error is the one that clients know, and nothing is stored."""
        self.successResultOf(self.submit(2))
        self.failureResultOf(self.submit(2), JobQueueFull)
        self.assertEqual(self.successResultOf(self.submit()), [3])
        self.failureResultOf(self.submit(), JobQueueFull)

    def test_ended(self) -> None:
        """Those that have ended take no room, also after a restart."""
        for _ in range(4):
            self.successResultOf(self.submit(3))
            self.end_all()
        self.assertEqual((self.queue.store.open_count, self.queue.store.count), (0, 12))
        again = Queue(self.queue.files)
        run_now(again.store.load())
        self.assertEqual((again.store.open_count, again.store.count), (0, 12))


class ArchivingTests(QueueCase):
    """A queue that looks after itself."""

    def setUp(self) -> None:
        """It has just been started."""
        super().setUp()
        clock = self.queue.clock
        self.archiving = Archiving(self.queue.store, clock, clock.seconds, self.queue.scheduler.is_followed)
        self.archiving.start()
        self.addCleanup(self.archiving.stop)

    def pass_time(self, seconds: float) -> None:
        """In steps, as there are turns between the batches."""
        self.queue.clock.pump([INTERVAL / 2] * int(seconds / INTERVAL * 2))

    def test_by_age(self) -> None:
        """What ended six hours ago is archived, what runs or ended since is not."""
        self.submit(2)
        self.end_all()
        self.pass_time(AGE - 3 * INTERVAL)
        self.submit(2)
        self.queue.finish(self.queue.launcher.runners[-1])
        self.assertEqual(self.queue.store.count, 4)
        self.pass_time(5 * INTERVAL)
        self.assertEqual(list(self.queue.store.live), [3, 4])
        self.assertTrue(self.queue.files.exists(self.queue.paths.archived_job_file(1)))
        self.pass_time(2 * AGE)
        self.assertEqual(list(self.queue.store.live), [3])

    def test_not_at_the_start(self) -> None:
        """A queue full of old jobs is left alone while the daemon starts."""
        self.submit()
        self.end_all()
        self.archiving.stop()
        self.queue.clock.advance(2 * AGE)
        clock = self.queue.clock
        later = Archiving(self.queue.store, clock, clock.seconds, self.queue.scheduler.is_followed)
        later.start()
        self.addCleanup(later.stop)
        clock.advance(INTERVAL - 1)
        self.assertEqual(self.queue.store.count, 1)
        clock.advance(1)
        self.assertEqual(self.queue.store.count, 0)

    def test_bounded(self) -> None:
        """One look ends after some seconds, however many jobs are old; the next goes on."""
        self.submit(BATCH * 5)
        self.end_all()
        self.queue.store.rename_copies = self.take_long
        self.queue.clock.advance(AGE + INTERVAL)
        self.assertEqual(self.queue.store.count, BATCH * 3)
        self.queue.clock.advance(INTERVAL)
        self.assertEqual(self.queue.store.count, BATCH)

    def take_long(self, moved: object) -> None:
        """Half of the time of a look goes by."""
        self.queue.clock.rightNow += PASS / 2

    def test_disk_refuses(self) -> None:
        """A disk that takes nothing is told of, and tried again."""
        self.submit()
        self.end_all()
        error = OSError(errno.EROFS, "Read-only file system")
        self.queue.files.fault = lambda operation, path: error if operation == "rename" else None
        self.pass_time(AGE + 2 * INTERVAL)
        self.assertEqual(self.queue.store.count, 1)
        self.queue.files.fault = None
        self.pass_time(2 * INTERVAL)
        self.assertEqual(self.queue.store.count, 0)

    def test_stopped(self) -> None:
        """Nothing happens after the end."""
        self.submit()
        self.end_all()
        self.archiving.stop()
        self.pass_time(2 * AGE)
        self.assertEqual(self.queue.store.count, 1)
