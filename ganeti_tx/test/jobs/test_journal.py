"""A job's own file: what is written, when, and who hears of it."""

import errno
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.jobs.journal import COPY_DELAY, LOG_DELAY, REPAIR_DELAY, Journal
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status, decode_job, ended
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.config.stores import SlowFiles

OP = QueuedOp(input={"OP_ID": "OP_TEST_DELAY"})
JOB = QueuedJob(id=7, ops=[OP, OP], livelock="/livelocks/job_1", process_id=1)
PATH = Paths().job_file(7)


class JournalTests(SynchronousTestCase):
    """Journal over files that the test makes slow."""

    def setUp(self) -> None:
        """A job of two opcodes."""
        self.files = SlowFiles()
        self.files.mkdir(PATH.parent)
        self.clock = Clock()
        self.copies: list[tuple[bytes, Deferred[None]]] = []
        self.journal = Journal(JOB, PATH, self.files, self.replicate, lambda: 12.5, self.clock)

    async def replicate(self, files: dict[str, bytes]) -> None:
        """The candidates are slow."""
        done: Deferred[None] = Deferred()
        self.copies.append((files["job-7"], done))
        await done

    def on_disk(self) -> QueuedJob:
        """The file's content."""
        return decode_job(self.files.read(PATH, 10**6))

    def test_save(self) -> None:
        """A save is on this disk when it fires, with its mode; it does not wait for the candidates."""
        self.journal.change_op(0, status=Status.RUNNING)
        self.successResultOf(self.journal.save())
        self.assertEqual(self.on_disk().ops[0].status, Status.RUNNING)
        self.assertEqual(self.files.stat(PATH).mode, 0o640)
        self.assertEqual(self.copies, [])
        self.clock.advance(COPY_DELAY)
        self.assertEqual(len(self.copies), 1)

    def test_entries_that_can_wait(self) -> None:
        """One is written with what else changes, or soon by itself; with what was encoded before it, it is not."""
        self.journal.add_log(0, "step", "one", at_once=False)
        self.assertEqual(self.files.written, 0)
        self.journal.add_log(0, "message", "two")
        self.assertEqual((self.files.written, len(self.on_disk().ops[0].log)), (1, 2))
        self.clock.advance(LOG_DELAY)
        self.assertEqual(self.files.written, 1)
        self.files.slow = True
        self.journal.save()
        self.journal.add_log(0, "step", "three", at_once=False)
        self.files.finish()
        self.clock.advance(LOG_DELAY)
        self.files.finish()
        self.assertEqual((self.files.written, len(self.on_disk().ops[0].log)), (3, 3))

    def test_saves_during_a_write(self) -> None:
        """What is asked for during a write is written once, after it, in its newest state."""
        self.files.slow = True
        first = self.journal.save()
        self.journal.change_op(0, status=Status.WAITING)
        second = self.journal.save()
        self.journal.change_op(0, status=Status.RUNNING)
        third = self.journal.save()
        self.files.finish()
        self.successResultOf(first)
        self.assertNoResult(second)
        self.files.finish()
        self.successResultOf(second)
        self.successResultOf(third)
        self.assertEqual(self.files.written, 2)
        self.assertEqual(self.on_disk().ops[0].status, Status.RUNNING)

    def test_save_out_of_a_save(self) -> None:
        """Who saves again as soon as he hears of a save is not forgotten."""
        again: list[Deferred[None]] = []
        self.journal.save().addCallback(lambda _: again.append(self.journal.save()))
        self.successResultOf(again[0])
        self.assertEqual(self.files.written, 2)

    def test_full_disk(self) -> None:
        """A write that fails tells those who waited for it; the next one is a new chance."""
        self.files.slow = True
        first = self.journal.save()
        second = self.journal.save()
        self.files.fail(OSError(errno.ENOSPC, "No space left on device"))
        self.failureResultOf(first, OSError)
        self.files.finish()
        self.successResultOf(second)
        self.clock.advance(COPY_DELAY)
        self.assertEqual(len(self.copies), 1)

    def test_what_no_file_can_hold(self) -> None:
        """A value that cannot be written fails the save; nobody waits for ever, and later saves work."""
        self.journal.change_op(0, result=object())
        self.failureResultOf(self.journal.save(), TypeError)
        self.journal.change_op(0, result=None)
        self.successResultOf(self.journal.save())

    def test_log(self) -> None:
        """Log entries are numbered through the whole job and written by themselves."""
        self.journal.add_log(0, "message", "one")
        self.journal.add_log(1, "message", "two")
        self.journal.add_log(0, "message", "three")
        ops = self.on_disk().ops
        self.assertEqual([entry[0] for entry in ops[0].log], [1, 3])
        self.assertEqual(ops[1].log, [(2, (12, 500000), "message", "two")])

    def test_indented(self) -> None:
        """What is said besides what is done stands to the right, for every client alike."""
        for said in ("- INFO: one", "* two", {"title": "- three"}):
            self.journal.add_log(0, "message", said)
        self.assertEqual(
            [entry[3] for entry in self.on_disk().ops[0].log], [" - INFO: one", "* two", {"title": "- three"}]
        )

    def test_log_on_a_full_disk(self) -> None:
        """A log entry that the disk refuses is written by itself once there is room, once for all of them."""
        full = OSError(errno.ENOSPC, "No space left on device", str(PATH))
        self.files.fault = lambda step, path: full if step == "write_atomic" else None
        self.journal.add_log(0, "message", "one")
        self.journal.add_log(0, "message", "two")
        self.clock.advance(REPAIR_DELAY)
        self.files.fault = None
        self.assertEqual(len(self.clock.getDelayedCalls()), 1)
        self.clock.advance(REPAIR_DELAY)
        self.assertEqual([entry[3] for entry in self.on_disk().ops[0].log], ["one", "two"])

    def test_copies_wait_for_more(self) -> None:
        """Several saves of a job that goes on travel as one copy; the job's end travels at once."""
        self.successResultOf(self.journal.save())
        self.journal.change_op(0, status=Status.RUNNING)
        self.successResultOf(self.journal.save())
        self.clock.advance(COPY_DELAY)
        self.assertEqual([decode_job(data).ops[0].status for data, _ in self.copies], [Status.RUNNING])
        self.journal.job = ended(self.journal.job, Status.SUCCESS, None, 13.0)
        self.successResultOf(self.journal.save())
        self.assertEqual(len(self.copies), 2)

    def test_copied(self) -> None:
        """`copied` waits for every copy that is under way, also for one that fails."""
        self.successResultOf(self.journal.save())
        self.clock.advance(COPY_DELAY)
        self.successResultOf(self.journal.save())
        done = Deferred.fromCoroutine(self.journal.copied())
        self.copies[1][1].callback(None)
        self.assertNoResult(done)
        self.copies[0][1].errback(ValueError("broken"))
        self.successResultOf(done)
        self.assertEqual(len(self.flushLoggedErrors(ValueError)), 1)
        self.successResultOf(Deferred.fromCoroutine(self.journal.copied()))

    def test_what_no_file_holds(self) -> None:
        """A save of something that cannot be encoded fails; nobody waits for it for ever, and the next one works."""
        deep: list[Any] = []
        for _ in range(10_000):
            deep = [deep]
        for result, error in ((object(), TypeError), ("\ud800", UnicodeEncodeError), (deep, RecursionError)):
            self.journal.change_op(0, result=result)
            self.failureResultOf(self.journal.save(), error)
        self.journal.change_op(0, result=None)
        self.successResultOf(self.journal.save())
