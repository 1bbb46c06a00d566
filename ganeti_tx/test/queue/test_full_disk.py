"""The queue on a disk that takes no writes for a while: nothing is lost, nothing stays open for ever."""

import errno
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobQueueError
from ganeti_tx.model.opcodes.test import OpTestDelay
from ganeti_tx.queue.job import Status
from ganeti_tx.queue.launcher import RunnerDied
from ganeti_tx.test.inprocess.faulty_disk import CHANGING, FaultyDisk
from ganeti_tx.test.queue.test_scheduler import Queue, run_now


class FullDiskTests(SynchronousTestCase):
    """Two jobs, of which one runs at a time."""

    def setUp(self) -> None:
        self.disk = FaultyDisk()
        self.disk.mkdir(Path("/var/lib/ganeti"))
        self.queue = self.begin(set())

    def begin(self, living: set[str]) -> Queue:
        """A queue over what is on the disk."""
        queue = Queue(self.disk, limit=1)
        queue.launcher.living = living
        run_now(queue.store.load())
        run_now(queue.scheduler.resume())
        return queue

    def submit(self) -> Any:
        """A job; its id, or why not."""
        return run_now(self.queue.scheduler.submit([[OpTestDelay(duration=0.0)]]))

    def fill(self) -> None:
        """No step of a write succeeds any more."""
        full = OSError(errno.ENOSPC, "No space left on device")
        self.disk.fault = lambda step, path: full if step in CHANGING - {"unlink", "remove"} else None

    def mend(self) -> None:
        """There is room again, and some time passes."""
        self.disk.fault = None
        self.queue.clock.pump([1] * 40)

    def status(self, job_id: int) -> Status:
        """The status in the job's file."""
        return self.queue.on_disk(job_id).status

    def test_death_is_written_later(self) -> None:
        """A job whose process died on a full disk is an error once there is room, and the next one starts."""
        self.submit()
        self.submit()
        self.fill()
        self.queue.launcher.runners[0].over.errback(Failure(RunnerDied("killed")))
        self.queue.clock.pump([10] * 30)
        self.assertEqual(self.status(1), Status.WAITING)
        self.assertTrue(self.queue.scheduler.is_followed(1))
        self.mend()
        self.assertEqual(self.status(1), Status.ERROR)
        self.assertEqual(self.status(2), Status.WAITING)

    def test_start_is_tried_again(self) -> None:
        """A job that could not be started since the disk was full starts by itself when there is room."""
        self.submit()
        self.submit()
        job = self.queue.launcher.runners[0].job
        assert job is not None
        self.queue.finish_without_word(job)
        self.fill()
        self.queue.launcher.runners[0].over.callback(None)
        self.queue.clock.pump([1] * 20)
        self.assertEqual(self.status(2), Status.QUEUED)
        self.mend()
        self.assertEqual(self.status(2), Status.WAITING)

    def test_cancel_while_it_cannot_be_started(self) -> None:
        """Who cancels a job that is just not being started gets it cancelled."""
        self.queue.launcher.holding = True
        self.submit()
        self.fill()
        self.queue.launcher.release()
        asked = Deferred.fromCoroutine(self.queue.scheduler.cancel(1, False))
        self.assertNoResult(asked)
        self.mend()
        self.assertEqual(self.successResultOf(asked), (True, "Job 1 canceled"))
        self.assertEqual(self.status(1), Status.CANCELED)
        self.assertFalse(self.queue.scheduler.is_followed(1))

    def test_cancel_is_refused(self) -> None:
        """A cancel that cannot be written fails, and the job is as it was: it runs in its turn."""
        self.submit()
        self.submit()
        self.fill()
        refused = run_now(self.queue.scheduler.cancel(2, False))
        self.assertIsInstance(refused.value, JobQueueError)
        self.assertIsInstance(run_now(self.queue.scheduler.change_priority(2, 3)).value, JobQueueError)
        self.mend()
        self.assertEqual(self.status(2), Status.QUEUED)
        self.queue.finish(self.queue.launcher.runners[0])
        self.assertEqual(self.status(2), Status.WAITING)

    def test_restart_on_a_full_disk(self) -> None:
        """A new luxid comes up although it cannot write down what it finds; it does when it can."""
        self.submit()
        self.submit()
        first = self.queue.store.jobs[1]
        running = [msgspec.structs.replace(first.ops[0], status=Status.RUNNING)]
        run_now(self.queue.store.put(msgspec.structs.replace(first, ops=running)))
        self.fill()
        self.queue = self.begin(set())
        self.queue.clock.pump([10] * 30)
        self.assertEqual(self.status(1), Status.RUNNING)
        self.mend()
        self.assertEqual(self.status(1), Status.ERROR)
        self.assertEqual(self.status(2), Status.WAITING)

    def test_put_back_later(self) -> None:
        """So with a job that had not begun: it gets another process when that can be written."""
        self.submit()
        self.fill()
        self.queue = self.begin(set())
        self.queue.clock.pump([10] * 30)
        self.mend()
        self.assertEqual(self.queue.on_disk(1).livelock, "/run/livelocks/job_1")
        self.assertEqual([runner.job.id for runner in self.queue.launcher.runners if runner.job], [1])

    def test_end_that_cannot_be_read(self) -> None:
        """An end that cannot be read for want of open files is not taken for a death."""
        self.submit()
        runner = self.queue.launcher.runners[0]
        assert runner.job is not None
        self.queue.finish_without_word(runner.job)
        self.disk.fault = lambda step, path: OSError(errno.EMFILE, "Too many open files") if step == "read" else None
        runner.over.callback(None)
        self.queue.clock.pump([10] * 3)
        self.mend()
        self.assertEqual(self.status(1), Status.SUCCESS)
        self.assertFalse(self.queue.scheduler.is_followed(1))

    def test_refused_job_does_not_come_back(self) -> None:
        """What is left of a submission that failed half-way is removed as soon as it can be."""
        struck: list[str] = []

        def fault(step: str, path: Path) -> OSError | None:
            if (step == "move" and path.name == "job-2") or struck:
                struck.append(step)
                return OSError(errno.EROFS, "Read-only file system")
            return None

        self.disk.fault = fault
        jobs = [[OpTestDelay(duration=0.0)], [OpTestDelay(duration=0.0)]]
        self.failureResultOf(Deferred.fromCoroutine(self.queue.scheduler.submit(jobs)), JobQueueError)
        self.assertTrue(self.disk.exists(self.queue.paths.job_file(1)))
        self.disk.fault = None
        self.queue.clock.advance(10)
        self.assertFalse(self.disk.exists(self.queue.paths.job_file(1)))
        self.assertEqual(self.submit(), [3])
        self.assertEqual(set(self.begin(set()).store.jobs), {3})

    def test_unsynced_directory(self) -> None:
        """A job whose file is in place exists, although its directory could not be synced."""
        self.disk.fault = lambda step, path: OSError(errno.EIO, "I/O error") if step == "sync_directory" else None
        self.assertEqual(self.submit(), [1])
        self.assertEqual(self.status(1), Status.WAITING)
