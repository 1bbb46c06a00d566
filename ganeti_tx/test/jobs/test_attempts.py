"""Attempts to get locks, and slots given up between opcodes."""

from twisted.internet.defer import Deferred

from ganeti_tx.jobs.execute import JobRun
from ganeti_tx.locking.interfaces import LockRequest, Owner
from ganeti_tx.locking.levels import BGL, Mode
from ganeti_tx.model.opcodes import OpTestDelay
from ganeti_tx.queue.job import Status, handed_over
from ganeti_tx.test.jobs.case import NODE, OWNER, RIVAL, JobRunCase, TalkingUnit, Unit, Work


class AttemptTests(JobRunCase):
    """Attempts to get locks, and slots given up between opcodes."""

    def waiting_job(self, *works: Work) -> "tuple[JobRun, Deferred[None]]":
        """A job that waits for the rival's lock."""
        self.rival_holds()
        run = self.job(*works)
        return run, Deferred.fromCoroutine(run.run())

    def rival_waits_for_all(self) -> "Deferred[None]":
        """Somebody wants the cluster for himself."""
        return self.table.update(Owner(9, "/livelocks/job_3"), [LockRequest(BGL, Mode.EXCLUSIVE)])

    def test_failed_try(self) -> None:
        """An attempt that fails raises the priority in the file, and the next one begins at once when nobody wants the slot."""
        _, done = self.waiting_job(lambda unit: 1)
        self.clock.advance(1)
        self.assertEqual(self.on_disk().ops[0].priority, -1)
        self.assertEqual(self.on_disk().status, Status.WAITING)
        self.clock.advance(2)
        self.assertEqual(self.on_disk().ops[0].priority, -2)
        self.assertEqual(self.asked, [0, 0])
        self.table.release_all(RIVAL)
        self.successResultOf(done)
        self.assertEqual(self.on_disk().status, Status.SUCCESS)

    def test_removed(self) -> None:
        """When a lock is removed with its object the unit is asked anew which it needs: it may do without."""
        _, done = self.waiting_job(lambda unit: 1)
        self.assertNoResult(done)
        self.table.remove(RIVAL, NODE)
        self.successResultOf(done)
        self.assertEqual((self.on_disk().status, self.on_disk().ops[0].priority), (Status.SUCCESS, -1))

    def test_said_once(self) -> None:
        """What a unit says before it has its locks is in the log once, however many attempts there are."""
        self.rival_holds()
        run = self.job(lambda unit: 1)
        run.units = {OpTestDelay: type("Talker", (TalkingUnit,), {"works": [lambda unit: 1]})}
        done = Deferred.fromCoroutine(run.run())
        self.clock.pump([1, 2, 4])
        self.table.release_all(RIVAL)
        self.successResultOf(done)
        self.assertEqual([entry[3] for entry in self.on_disk().ops[0].log], ["looked up"])

    def test_everything_is_released(self) -> None:
        """Between two attempts nothing is held, the big lock neither, so that whoever needs it gets through."""
        self.waiting_job(lambda unit: 1)
        alone = self.rival_waits_for_all()
        self.clock.advance(1)
        self.assertNoResult(alone)  # the rival has the big lock, too
        self.table.release_all(RIVAL)
        self.successResultOf(alone)

    def test_lock_wait_has_the_raised_priority(self) -> None:
        """A job that tried in vain is served before one of its first priority that came earlier."""
        _, done = self.waiting_job(lambda unit: 1)
        self.clock.advance(0.5)
        other = Owner(9, "/livelocks/job_3")
        self.table.update(other, [LockRequest(BGL, Mode.SHARED), LockRequest(NODE, Mode.EXCLUSIVE)], 0)
        self.clock.advance(0.5)
        self.table.release_all(RIVAL)
        self.successResultOf(done)

    def test_blocking_at_the_highest(self) -> None:
        """At -20 there is one attempt, without limit."""
        self.rival_holds()
        run = self.job(lambda unit: 1)
        run.set_priority(-20)
        done = Deferred.fromCoroutine(run.run())
        self.clock.advance(10**6)
        self.assertEqual(self.asked, [])
        self.assertNoResult(done)
        self.table.release_all(RIVAL)
        self.successResultOf(done)

    def test_back_to_the_queue_after_a_try(self) -> None:
        """When others want the slot the job is queued again, with the raised priority and nobody's livelock, holding nothing."""
        self.slot_answers = [False]
        _, done = self.waiting_job(lambda unit: 1)
        self.clock.advance(1)
        self.successResultOf(done)
        job = self.on_disk()
        self.assertEqual(
            (job.status, job.ops[0].priority, job.livelock, job.process_id), (Status.QUEUED, -1, None, None)
        )
        self.assertEqual(self.table.held(OWNER), {})

    def test_back_to_the_queue_between_opcodes(self) -> None:
        """After an opcode the job is queued when others want its slot; what is done stays done, and is not done again."""
        self.slot_answers = [False]
        done = Deferred.fromCoroutine(self.job(lambda unit: 1, lambda unit: 2).run())
        self.successResultOf(done)
        job = self.on_disk()
        self.assertEqual([op.status for op in job.ops], [Status.SUCCESS, Status.QUEUED])
        self.assertEqual((job.status, job.livelock, job.end_timestamp), (Status.QUEUED, None, None))
        again = self.job(lambda unit: 2, ops=[OpTestDelay(duration=0.0)] * 2)
        again.journal.job = handed_over(job, OWNER.livelock, 2, self.clock.seconds())
        self.successResultOf(Deferred.fromCoroutine(again.run()))
        self.assertEqual([op.result for op in self.on_disk().ops], [1, 2])

    def test_secrets_keep_the_slot(self) -> None:
        """A job with secret parameters ahead goes on, for no file holds them."""
        self.slot_answers = [False]
        run = self.job(lambda unit: 1, lambda unit: 2)
        run.secrets = {1: {}}
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertEqual(self.on_disk().status, Status.SUCCESS)

    def test_no_way_back(self) -> None:
        """A job that cannot be written back into the queue goes on."""
        self.slot_answers = [False]
        full = OSError(28, "No space left")

        def work(unit: Unit) -> int:
            faults = [full]
            self.files.fault = lambda operation, path: faults.pop() if self.asked and faults else None
            return 1

        run = self.job(work, lambda unit: 2)
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        job = self.on_disk()
        self.assertEqual([op.status for op in job.ops], [Status.SUCCESS] * 2)
        self.assertEqual(job.livelock, OWNER.livelock)
        self.flushLoggedErrors()

    def test_stop_before_the_slot(self) -> None:
        """A job that shall stop asks for no slot: it ends."""
        run = self.job(lambda unit: self.stop(run), lambda unit: 2)
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertEqual(self.asked, [])
        self.assertEqual([op.status for op in self.on_disk().ops], [Status.SUCCESS, Status.CANCELED])
