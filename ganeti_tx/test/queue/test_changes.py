"""Waiting for jobs to change."""

import msgspec
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobLost, OpPrereqError
from ganeti_tx.queue.changes import LONGEST_WAIT, JobChanges
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status

JOB = QueuedJob(id=1, ops=[QueuedOp(input={"OP_ID": "OP_TEST_DELAY"})])


def with_op(job: QueuedJob, **changes: object) -> QueuedJob:
    """The job with its first opcode changed."""
    return msgspec.structs.replace(job, ops=[msgspec.structs.replace(job.ops[0], **changes)])


def listed(previous: object) -> object:
    """A list, as JSON has it."""
    return list(previous) if isinstance(previous, tuple) else previous


class ChangesTests(SynchronousTestCase):
    """JobChanges with one job."""

    def setUp(self) -> None:
        """A job that is queued."""
        self.clock = Clock()
        self.job: QueuedJob | None = JOB
        self.changes = JobChanges(self.clock, lambda job_id: self.job if job_id == 1 else None)

    def wait(
        self, previous: object = ("queued",), serial: int | None = -1, timeout: float = 60, field: str = "status"
    ) -> "Deferred[tuple[list[object], list[object]]]":
        """One client waits."""
        return Deferred.fromCoroutine(self.changes.wait(1, [field], listed(previous), serial, timeout))

    def nothing_left(self) -> None:
        """No timer, no waiter."""
        self.assertEqual(self.clock.getDelayedCalls(), [])
        self.assertEqual(self.changes._conditions, {})

    def test_change(self) -> None:
        """A change of a field answers everybody who waits; a change of something else answers nobody."""
        one, two = self.wait(), self.wait()
        self.changes.announce(1)
        self.assertNoResult(one)
        self.job = with_op(JOB, status=Status.RUNNING)
        self.changes.announce(1)
        self.assertEqual(self.successResultOf(one), (["running"], []))
        self.assertEqual(self.successResultOf(two), (["running"], []))
        self.nothing_left()

    def test_different_already(self) -> None:
        """What differs from the start is answered at once."""
        self.assertEqual(self.successResultOf(self.wait(previous=None)), (["queued"], []))

    def test_log(self) -> None:
        """New log entries answer, and only the new ones are given."""
        entries = [(1, (0, 0), "message", "one"), (2, (0, 0), "message", "two")]
        waiting = self.wait(serial=1)
        self.job = with_op(JOB, log=entries)
        self.changes.announce(1)
        self.assertEqual(self.successResultOf(waiting), (["queued"], [entries[1]]))

    def test_finished(self) -> None:
        """A job that is over is answered at once: nothing will change any more."""
        self.job = with_op(JOB, status=Status.SUCCESS)
        self.assertEqual(self.successResultOf(self.wait(previous=["success"])), (["success"], []))

    def test_time_out(self) -> None:
        """When the time is up the answer is what is there."""
        waiting = self.wait(timeout=30)
        self.clock.advance(29)
        self.assertNoResult(waiting)
        self.clock.advance(1)
        self.assertEqual(self.successResultOf(waiting), (["queued"], []))
        self.nothing_left()

    def test_time_out_counts_from_the_question(self) -> None:
        """Changes that are of no interest do not make the wait longer."""
        waiting = self.wait(timeout=30)
        for _ in range(3):
            self.clock.advance(10)
            self.changes.announce(1)
        self.successResultOf(waiting)
        self.nothing_left()

    def test_longest_wait(self) -> None:
        """However long a client wants to wait, an answer comes before its connection is given up."""
        waiting = self.wait(timeout=10**9)
        self.clock.advance(LONGEST_WAIT)
        self.successResultOf(waiting)

    def test_no_time(self) -> None:
        """A time-out of zero or below asks how things are."""
        for timeout in (0, -5):
            self.successResultOf(self.wait(timeout=timeout))

    def test_cancel(self) -> None:
        """Who hangs up leaves nothing behind, and the others wait on."""
        gone, stays = self.wait(), self.wait()
        gone.cancel()
        self.failureResultOf(gone, CancelledError)
        self.job = with_op(JOB, status=Status.RUNNING)
        self.changes.announce(1)
        self.successResultOf(stays)
        self.nothing_left()

    def test_unknown_job(self) -> None:
        """A job that is not there, or goes to the archive meanwhile, is an error that names it."""
        waiting = self.wait()
        self.job = None
        self.changes.announce(1)
        self.assertIn("job 1", str(self.failureResultOf(waiting, JobLost).value))
        self.nothing_left()

    def test_unknown_field(self) -> None:
        """A field that no job has is refused, with the fields there are."""
        self.assertIn("opstatus", str(self.failureResultOf(self.wait(field="colour"), OpPrereqError).value))

    def test_values_as_the_client_knows_them(self) -> None:
        """Tuples inside a result are lists to the client: they are no change."""
        self.job = with_op(JOB, result={"jobs": [(True, 2)]}, status=Status.RUNNING)
        waiting = self.wait(previous=[[{"jobs": [[True, 2]]}]], field="opresult")
        self.assertNoResult(waiting)
