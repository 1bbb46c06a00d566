"""What callers asked for whose rights were taken away."""

import errno
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobCanceled, OpPrereqError
from ganeti_tx.model.opcodes import OpCode, OpTestDelay
from ganeti_tx.model.signature import CALLER_SOURCE
from ganeti_tx.queue.job import Status
from ganeti_tx.queue.withdrawn import LAST, LONGEST, MODE, MOST, REFUSED
from ganeti_tx.test.queue.test_scheduler import Queue, run_now

#: When its rights were taken away.
THEN = 1_790_000_000_000_000_000


def asked(at: int, caller: str = "token:ci") -> OpCode:
    """What somebody asked for."""
    return OpTestDelay(duration=0.0, reason=(("gnt:user", "why", 1), (CALLER_SOURCE, caller, at)))


class WithdrawnTests(SynchronousTestCase):
    """A queue, and somebody who is withdrawn."""

    def setUp(self) -> None:
        """The queue is empty."""
        self.queue = self.started(Queue())

    def started(self, queue: Queue) -> Queue:
        """A queue that is up."""
        queue.files.mkdir(queue.paths.luxid_message_dir)
        run_now(queue.store.load())
        run_now(queue.scheduler.resume())
        return queue

    def submit(self, *ops: OpCode) -> "Deferred[list[int]]":
        """One job."""
        return Deferred.fromCoroutine(self.queue.scheduler.submit([ops]))

    def withdraw(self, caller: str = "token:ci", until: int = THEN) -> None:
        """It is told of."""
        self.assertIs(run_now(self.queue.scheduler.withdrawn.withdraw(caller, until)), True)

    def refused(self, *ops: OpCode) -> bool:
        """Whether a job is; then nothing of it is stored, and nobody is named."""
        before = set(self.queue.store.jobs)
        work = self.submit(*ops)
        results: list[Any] = []
        work.addBoth(results.append)
        if isinstance(results[0], list):
            return False
        results[0].trap(JobCanceled)
        self.assertEqual(results[0].getErrorMessage(), REFUSED)
        self.assertEqual(set(self.queue.store.jobs), before)
        return True

    def test_refused(self) -> None:
        """What was asked for until then is; what is asked for later, by others or by nobody, is not."""
        self.assertFalse(self.refused(asked(THEN)))
        self.withdraw()
        self.assertTrue(self.refused(asked(THEN)))
        self.assertTrue(self.refused(OpTestDelay(duration=0.0), asked(THEN - 1)))
        for op in (asked(THEN + 1), asked(THEN, "ci"), OpTestDelay(duration=0.0)):
            self.assertFalse(self.refused(op))
        self.withdraw(until=THEN - 5)
        self.assertTrue(self.refused(asked(THEN)))

    def test_each(self) -> None:
        """Of many jobs each is judged for itself."""
        self.withdraw()
        jobs: list[list[OpCode]] = [[asked(THEN)], [OpTestDelay(duration=0.0)], [asked(THEN + 1)]]
        answers = run_now(self.queue.scheduler.submit_each(jobs))
        self.assertEqual([str(answers[0]), *answers[1:]], [REFUSED, 1, 2])

    def test_meanwhile(self) -> None:
        """A job that is just being stored, which nobody could see yet, is not begun."""
        self.queue.store.replicate = lambda files: stored
        for at, status in ((THEN, Status.CANCELED), (THEN + 1, Status.WAITING)):
            stored: Deferred[None] = Deferred()
            work = self.submit(asked(at))
            self.assertNoResult(work)
            self.withdraw()
            stored.callback(None)
            (job_id,) = self.successResultOf(work)
            job = self.queue.on_disk(job_id)
            self.assertEqual(job.status, status)
        self.assertEqual(self.queue.started(), [job_id])

    def test_nonsense(self) -> None:
        """A time that is none, or a name that nobody can have, is refused, and nothing is forgotten for it."""
        self.withdraw()
        for caller, until in (("web", LAST + 1), ("web", 1 << 70), ("x" * (LONGEST + 1), THEN)):
            withdrawn = self.queue.scheduler.withdrawn
            self.failureResultOf(Deferred.fromCoroutine(withdrawn.withdraw(caller, until)), OpPrereqError)
        self.withdraw("x" * LONGEST, LAST)
        self.assertTrue(self.refused(asked(THEN)))

    def test_restart(self) -> None:
        """A daemon that comes after knows it; a job of before may still run and submit others."""
        self.withdraw()
        self.queue = self.started(Queue(self.queue.files))
        self.assertTrue(self.refused(asked(THEN)))
        self.assertEqual(self.queue.files.stat(self.queue.paths.withdrawn_file).mode, MODE)

    def test_unreadable(self) -> None:
        """What cannot be read keeps no daemon from starting."""
        for data in (b"{", b"[]", b'{"a": "b"}', b"\xff"):
            self.assertIsNone(run_now(self.queue.files.write_atomic(self.queue.paths.withdrawn_file, data)))
            self.queue = self.started(Queue(self.queue.files))
            self.assertFalse(self.refused(asked(THEN)))

    def test_full_disk(self) -> None:
        """What cannot be written counts as long as this daemon runs."""
        path = self.queue.paths.withdrawn_file
        self.queue.files.fault = lambda _method, touched: OSError(errno.ENOSPC, "full") if touched == path else None
        self.withdraw()
        self.assertTrue(self.refused(asked(THEN)))

    def test_bounded(self) -> None:
        """Who was withdrawn longest ago is forgotten when there are very many."""
        for caller in ("old", "young", "old"):
            self.withdraw(caller)
        for number in range(MOST - 1):
            self.withdraw(f"token:{number}")
        self.assertEqual([self.refused(asked(1, caller)) for caller in ("young", "old")], [False, True])
