"""Jobs whose files cannot be written for a while: none is forgotten, none is stuck, nobody is told what is not so."""

import errno

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobQueueError
from ganeti_tx.model.opcodes import OpTestDelay
from ganeti_tx.model.opcodes.types import FinalStatus
from ganeti_tx.queue.job import Status
from ganeti_tx.queue.launcher import RunnerDied
from ganeti_tx.queue.runs import RETRY_DELAY
from ganeti_tx.test.queue.test_scheduler import Queue, run_now

DELAY = OpTestDelay(duration=0.0)


class RefusingDiskTests(SynchronousTestCase):
    """What only luxid can write is written once the disk is well."""

    def setUp(self) -> None:
        self.queue = Queue()
        run_now(self.queue.store.load())

    def submit(self) -> int:
        """Submit a job."""
        (job_id,) = self.successResultOf(Deferred.fromCoroutine(self.queue.scheduler.submit([[DELAY]])))
        return job_id

    def refuse(self, refuses: bool) -> None:
        """Whether job files can be written from now on."""
        error = OSError(errno.ENOSPC, "No space left on device")
        self.queue.files.fault = lambda operation, path: error if refuses and operation == "write_atomic" else None

    def test_dead_process(self) -> None:
        """A job whose process died on a full disk is in error as soon as there is room."""
        job_id = self.submit()
        self.refuse(True)
        self.queue.launcher.runners[0].over.errback(Failure(RunnerDied("its livelock is free")))
        self.assertEqual(self.queue.on_disk(job_id).status, Status.WAITING)
        self.queue.clock.advance(RETRY_DELAY)
        self.refuse(False)
        self.queue.clock.advance(RETRY_DELAY)
        self.assertEqual(self.queue.on_disk(job_id).status, Status.ERROR)
        self.assertFalse(self.queue.scheduler.is_followed(job_id))

    def test_killed(self) -> None:
        """A job that was killed on a full disk is canceled as soon as there is room."""
        job_id = self.submit()
        self.refuse(True)
        asked = Deferred.fromCoroutine(self.queue.scheduler.cancel(job_id, kill=True))
        self.refuse(False)
        self.queue.clock.advance(RETRY_DELAY)
        self.assertEqual(self.successResultOf(asked), (True, "Job 1 was killed"))
        self.assertEqual(self.queue.on_disk(job_id).status, Status.CANCELED)

    def test_cancel_is_refused(self) -> None:
        """A waiting job whose cancellation cannot be written is not canceled, and whoever asked is told so."""
        self.queue.limit = 0
        job_id = self.submit()
        self.refuse(True)
        canceling = Deferred.fromCoroutine(self.queue.scheduler.cancel(job_id, kill=False))
        self.assertIn("No space left", str(self.failureResultOf(canceling, JobQueueError).value))
        self.refuse(False)
        self.queue.limit = 1
        self.queue.scheduler.wake()
        self.assertEqual(self.queue.started(), [job_id])

    def test_priority_is_refused(self) -> None:
        """So it is with a priority that cannot be written."""
        self.queue.limit = 0
        job_id = self.submit()
        self.refuse(True)
        changing = Deferred.fromCoroutine(self.queue.scheduler.change_priority(job_id, -10))
        self.failureResultOf(changing, JobQueueError)
        self.assertEqual(self.queue.on_disk(job_id).priority, 0)

    def left_behind(self) -> Queue:
        """A new luxid on a full disk, with a job whose process died while there was none."""
        self.submit()
        self.refuse(True)
        queue = Queue(self.queue.files)
        run_now(queue.store.load())
        run_now(queue.scheduler.resume())
        return queue

    def test_dead_at_a_restart(self) -> None:
        """luxid comes up although a dead process's job cannot be written; the job is queued again once it can."""
        queue = self.left_behind()
        self.assertEqual(queue.started(), [])
        self.refuse(False)
        queue.clock.advance(RETRY_DELAY)
        self.assertEqual(queue.started(), [1])

    def test_canceled_before_it_is_put_back(self) -> None:
        """A job that is canceled before it could be queued again does not run."""
        queue = self.left_behind()
        asked = Deferred.fromCoroutine(queue.scheduler.cancel(1, kill=False))
        self.refuse(False)
        queue.clock.advance(RETRY_DELAY)
        self.assertEqual(self.successResultOf(asked), (True, "Job 1 canceled"))
        self.assertEqual((queue.on_disk(1).status, queue.started()), (Status.CANCELED, []))


class UnreadableEndTests(SynchronousTestCase):
    """A process has ended its job well, but luxid cannot read that."""

    def setUp(self) -> None:
        self.queue = Queue()
        run_now(self.queue.store.load())
        self.successResultOf(Deferred.fromCoroutine(self.queue.scheduler.submit([[DELAY]])))

    def end(self) -> None:
        """The process writes the end and says so."""
        self.queue.finish(self.queue.launcher.runners[0])

    def test_damaged_disk(self) -> None:
        """While the disk fails the job is not run again; its end counts when it can be read."""
        error = OSError(errno.EIO, "Input/output error")
        self.queue.files.fault = lambda operation, path: error if operation == "read" else None
        self.end()
        self.assertTrue(self.queue.scheduler.is_followed(1))
        self.queue.files.fault = lambda operation, path: None
        self.queue.clock.advance(RETRY_DELAY)
        self.assertEqual(self.queue.started(), [1])
        self.assertEqual(self.queue.on_disk(1).status, Status.SUCCESS)

    def test_damaged_file(self) -> None:
        """A job whose file was spoiled is not run again, for it may have been done: it is an error that says so."""
        runner = self.queue.launcher.runners[0]
        run_now(self.queue.files.write_atomic(self.queue.paths.job_file(1), b"{"))
        runner.over.callback(None)
        self.assertEqual(self.queue.started(), [1])
        job = self.queue.on_disk(1)
        self.assertEqual(job.status, Status.ERROR)
        self.assertIn("how it ended is not known", str(job.ops[0].result))

    def test_too_large(self) -> None:
        """The same when what lies there is no file that could ever be read, as one that is too large."""
        error = OSError(errno.EFBIG, "larger than 67108864 bytes")
        self.queue.files.fault = lambda operation, path: error if operation == "read" else None
        self.end()
        self.queue.files.fault = lambda operation, path: None
        job = self.queue.on_disk(1)
        self.assertEqual((job.status, self.queue.started()), (Status.ERROR, [1]))
        self.assertIn("larger than", str(job.ops[0].result))

    def test_removed_file(self) -> None:
        """A job whose file somebody took away is forgotten once its process is done; who depends on it does not wait for ever."""
        depends = OpTestDelay(duration=0.0, depends=((1, (FinalStatus.SUCCESS,)),))
        run_now(self.queue.scheduler.submit([[depends]]))
        self.queue.files.remove(self.queue.paths.job_file(1))
        self.queue.launcher.runners[0].over.callback(None)
        self.assertIsNone(self.queue.store.glance(1))
        self.assertEqual(self.queue.on_disk(2).status, Status.ERROR)
