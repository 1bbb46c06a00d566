"""The run of a job: its opcodes, its locks, its end."""

import errno
from collections.abc import Callable, Sequence
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.reservations import Reservations
from ganeti_tx.errors import (
    ConfigurationError,
    ECode,
    GanetiError,
    OpExecError,
    OpPrereqError,
    decode_error,
    error_text,
)
from ganeti_tx.jobs.execute import JobRun
from ganeti_tx.jobs.journal import Journal
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import LockRequest, Owner
from ganeti_tx.locking.levels import BGL, Level, Lock, Mode
from ganeti_tx.locking.owner_locks import OwnerLocks
from ganeti_tx.locking.table import LockTable
from ganeti_tx.logic.base import LogicalUnit
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.opcodes import Disclosure, OpTestDelay, OpTestDummy, encode
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status, decode_job, handed_over
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.config.stores import config_of, loaded
from ganeti_tx.test.fakes.files import MemoryFiles

OWNER = Owner(7, "/livelocks/job_1")
RIVAL = Owner(8, "/livelocks/job_2")
NODE = Lock(Level.NODE, "node-uuid")
PATH = Paths().job_file(7)

Work = Callable[["Unit"], Any]


class Unit(LogicalUnit[OpTestDelay]):
    """Takes one node's lock; what it does is the test's."""

    works: list[Work]

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The node."""
        return [LockRequest(NODE, Mode.EXCLUSIVE)] if level is Level.NODE else ()

    async def execute(self) -> Any:
        """The next piece of work."""
        result = self.works.pop(0)(self)
        return await result if isinstance(result, Deferred) else result


def raise_it(error: BaseException) -> Work:
    """Work that fails."""

    def work(unit: Unit) -> Any:
        raise error

    return work


class LocksThatStay(OwnerLocks):
    """WConfD is gone when the locks are to be released for the last time."""

    async def release_all(self) -> None:
        """Fails while anything is held."""
        if await self.held():
            raise ConfigurationError("WConfD is away")


class JobRunCase(SynchronousTestCase):
    """JobRun with units that the test writes."""

    def setUp(self) -> None:
        """A configuration, free locks, nothing done yet."""
        self.clock = Clock()
        self.turns: list[bool] = []
        self.asked: list[int] = []
        self.files = MemoryFiles()
        self.store = loaded(self.files)
        self.files.mkdir(PATH.parent)
        self.table = DeferredLocks(LockTable(), self.clock)
        self.locks = OwnerLocks(self.table, OWNER)

    def job(self, *works: Work, ops: Sequence[Any] | None = None) -> JobRun:
        """A job with an opcode for each piece of work."""
        kind = type("TestUnit", (Unit,), {"works": list(works)})
        opcodes = ops or [OpTestDelay(duration=0.0) for _ in works]
        job = QueuedJob(
            id=7,
            ops=[QueuedOp(input=encode(op, Disclosure.STORED)) for op in opcodes],
            livelock=OWNER.livelock,
            process_id=1,
        )
        return JobRun(
            journal=Journal(job, PATH, self.files, self.replicate, self.clock.seconds, self.clock),
            units={OpTestDelay: kind},
            config=config_of(self.store, Reservations()),
            locks=self.locks,
            nodes=None,  # type: ignore[arg-type]
            clock=self.clock,
            now=self.clock.seconds,
            submit_jobs=self.submit,
            resolve=self.resolve,
            queue_faults=list,
            may_go_on=self.may_go_on,
        )

    async def replicate(self, files: dict[str, bytes]) -> None:
        """There are no candidates."""

    async def submit(self, jobs: Sequence[Sequence[Any]]) -> list[tuple[bool, Any]]:
        """No unit here submits jobs."""
        raise AssertionError("nobody asked for it")

    async def may_go_on(self, priority: int) -> bool:
        """What luxid says: the next of `turns`, then that nobody waits."""
        self.asked.append(priority)
        return self.turns.pop(0) if self.turns else True

    async def resolve(self, name: str) -> tuple[str, str]:
        """No unit here resolves names."""
        raise AssertionError("nobody asked for it")

    def stop(self, run: JobRun) -> None:
        """Ask a job to stop; it takes note at once."""
        self.successResultOf(Deferred.fromCoroutine(run.stop()))

    def run_job(self, *works: Work) -> QueuedJob:
        """Run a job to its end; what its file then holds."""
        self.successResultOf(Deferred.fromCoroutine(self.job(*works).run()))
        return self.on_disk()

    def on_disk(self) -> QueuedJob:
        """The job's file."""
        return decode_job(self.files.read(PATH, 10**6))

    def error(self, index: int) -> str:
        """The text of an opcode's error."""
        return error_text(decode_error(self.on_disk().ops[index].result))

    def rival_holds(self) -> None:
        """Somebody else has the node."""
        self.successResultOf(
            self.table.update(RIVAL, [LockRequest(BGL, Mode.SHARED), LockRequest(NODE, Mode.EXCLUSIVE)])
        )


class JobRunTests(JobRunCase):
    """From the first opcode to the last."""

    def test_success(self) -> None:
        """Every opcode's result is in the file; the job has an end, and holds nothing any more."""
        job = self.run_job(lambda unit: 1, lambda unit: {"a": (1, 2)})
        self.assertEqual([op.status for op in job.ops], [Status.SUCCESS] * 2)
        self.assertEqual([op.result for op in job.ops], [1, {"a": [1, 2]}])
        self.assertIsNotNone(job.end_timestamp)
        self.assertEqual(self.table.held(OWNER), {})

    def test_locks(self) -> None:
        """While an opcode runs the job holds the big lock shared and what the unit asked for."""
        held: list[Any] = []
        self.run_job(lambda unit: held.append(self.table.held(OWNER)))
        self.assertEqual(held, [{BGL: Mode.SHARED, NODE: Mode.EXCLUSIVE}])

    def test_failure_fails_the_rest(self) -> None:
        """An opcode that fails keeps its own error; those after it do not run and say why."""
        job = self.run_job(
            lambda unit: 1,
            raise_it(OpPrereqError("no such disk", ECode.NOENT)),
            raise_it(AssertionError("must not run")),
        )
        self.assertEqual([op.status for op in job.ops], [Status.SUCCESS, Status.ERROR, Status.ERROR])
        self.assertEqual(job.ops[1].result, ["OpPrereqError", ["no such disk", "unknown_entity"]])
        self.assertIn("no such disk", self.error(2))

    def test_error_without_words(self) -> None:
        """An error without a text ends its job like any other."""
        self.run_job(raise_it(GanetiError()), lambda unit: 1)
        self.assertEqual(self.error(1), "preceding opcode failed: GanetiError")

    def test_fault_of_ours(self) -> None:
        """What is no error of Ganeti's is one line for the user, and in the log in full."""
        job = self.run_job(raise_it(KeyError("first\nsecond")), lambda unit: 1)
        self.assertEqual([op.status for op in job.ops], [Status.ERROR] * 2)
        self.assertEqual(len(self.error(0).splitlines()), 1)
        self.assertIn("internal error (KeyError", self.error(0))
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)

    def test_result_that_no_file_holds(self) -> None:
        """A result that cannot be written is such a fault: the job ends, it does not hang."""
        self.run_job(lambda unit: object())
        self.assertIn("internal error (TypeError", self.error(0))
        self.assertEqual(len(self.flushLoggedErrors(TypeError)), 1)

    def test_unknown_opcode(self) -> None:
        """An opcode without a unit is an error that names it."""
        run = self.job(ops=[OpTestDummy(result=None, messages=None, fail=None)])
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertIn("OP_TEST_DUMMY is not available", self.error(0))

    def test_cancel_while_waiting_for_locks(self) -> None:
        """A stop takes effect at once while the job waits for locks, and leaves the queue of waiters."""
        self.rival_holds()
        run = self.job(lambda unit: 1, lambda unit: 2)
        done = Deferred.fromCoroutine(run.run())
        self.assertNoResult(done)
        self.assertEqual(self.on_disk().ops[0].status, Status.WAITING)
        self.stop(run)
        self.successResultOf(done)
        self.assertEqual([op.status for op in self.on_disk().ops], [Status.CANCELED] * 2)
        self.table.release_all(RIVAL)
        self.assertEqual(self.table.held(OWNER), {})

    def test_cancel_while_running(self) -> None:
        """An opcode that runs is canceling until its work is done, which counts; the next one does not begin."""
        work: Deferred[int] = Deferred()
        run = self.job(lambda unit: work, lambda unit: 2)
        done = Deferred.fromCoroutine(run.run())
        self.stop(run)
        self.assertNoResult(done)
        self.assertEqual([op.status for op in self.on_disk().ops], [Status.CANCELING, Status.QUEUED])
        self.assertEqual(self.on_disk().status, Status.CANCELING)
        work.callback(1)
        self.successResultOf(done)
        self.assertEqual([op.status for op in self.on_disk().ops], [Status.SUCCESS, Status.CANCELED])

    def test_cancel_of_the_last_one(self) -> None:
        """A job whose last opcode does its work to the end although it should stop is a success."""
        work: Deferred[int] = Deferred()
        run = self.job(lambda unit: work)
        done = Deferred.fromCoroutine(run.run())
        self.stop(run)
        work.callback(1)
        self.successResultOf(done)
        self.assertEqual(self.on_disk().status, Status.SUCCESS)

    def test_cancel_in_a_wait(self) -> None:
        """A wait ends at once; the opcode's result and its log say where it stopped and that nothing had been done."""
        run = self.job(lambda unit: Deferred.fromCoroutine(unit.pause(100)))
        done = Deferred.fromCoroutine(run.run())
        self.stop(run)
        self.successResultOf(done)
        self.assertEqual(self.on_disk().status, Status.CANCELED)
        self.assertEqual(self.error(0), "the job was canceled before a wait; nothing had been done")
        self.assertEqual(self.last_word(), "Canceled before a wait; done until then: nothing")
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def tag(self, unit: Unit, word: str) -> "Deferred[None]":
        """Tag the cluster, or take that back."""
        add, remove = ([word], []) if word not in self.store.snapshot.cluster.tags else ([], [word])
        return Deferred.fromCoroutine(unit.config.change_tags(TagKind.CLUSTER, None, add, remove))

    def last_word(self) -> str:
        """The first opcode's last log entry."""
        return str(self.on_disk().ops[0].log[-1][3])

    def test_cancel_takes_back(self) -> None:
        """What had been done is taken back by the undo steps, which the stop does not disturb; result and log say so."""

        async def work(unit: Unit) -> None:
            async with unit.rollback() as rollback:
                await self.tag(unit, "one")
                rollback.undo(self.tag, unit, "one")
                self.stop(run)
                await self.tag(unit, "two")

        run = self.job(lambda unit: Deferred.fromCoroutine(work(unit)))
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertNotIn("one", self.store.snapshot.cluster.tags)
        self.assertEqual(self.on_disk().status, Status.CANCELED)
        self.assertIn("before change_tags in the configuration; what had been done was taken back", self.error(0))
        self.assertIn("done to take it back: change_tags in the configuration", self.last_word())

    def test_cancel_leaves(self) -> None:
        """What had been done and has no undo is left; result and log say so."""

        async def work(unit: Unit) -> None:
            await self.tag(unit, "one")
            self.stop(run)
            await self.tag(unit, "two")

        run = self.job(lambda unit: Deferred.fromCoroutine(work(unit)))
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertIn("one", self.store.snapshot.cluster.tags)
        self.assertIn("nothing was taken back", self.error(0))
        self.assertIn("done until then: change_tags in the configuration; nothing was taken back", self.last_word())

    def test_cancel_while_it_fails(self) -> None:
        """An opcode that fails by itself, and is to stop while it takes back what it did, has failed."""

        async def work(unit: Unit) -> None:
            async with unit.rollback() as rollback:
                await self.tag(unit, "one")
                rollback.undo(self.tag, unit, "one")
                rollback.undo(run.stop)
                raise OpExecError("broken")

        run = self.job(lambda unit: Deferred.fromCoroutine(work(unit)))
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertEqual((self.error(0), self.on_disk().status), ("broken", Status.ERROR))
        self.assertNotIn("one", self.store.snapshot.cluster.tags)

    def test_cancel_that_became_another_error(self) -> None:
        """An opcode that was stopped is canceled, whatever error its unit made of that."""

        async def work(unit: Unit) -> None:
            self.stop(run)
            try:
                await self.tag(unit, "one")
            except CancelledError:
                raise OpExecError("could not") from None

        run = self.job(lambda unit: Deferred.fromCoroutine(work(unit)))
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertEqual(self.on_disk().status, Status.CANCELED)

    def test_cancel_without_a_file(self) -> None:
        """A stop that cannot be written stops the job all the same."""
        run = self.job(lambda unit: Deferred.fromCoroutine(unit.pause(100)))
        done = Deferred.fromCoroutine(run.run())
        faults = [OSError(28, "No space left")]
        self.files.fault = lambda operation, path: faults.pop() if faults else None
        self.failureResultOf(Deferred.fromCoroutine(run.stop()), OSError)
        self.successResultOf(done)
        self.assertEqual(self.on_disk().status, Status.CANCELED)

    def test_cancel_before_the_start(self) -> None:
        """A stop that comes first leaves nothing done."""
        run = self.job(lambda unit: 1)
        self.stop(run)
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertEqual(self.on_disk().ops[0].status, Status.CANCELED)

    def test_cancelled_by_nobody(self) -> None:
        """Something inside that was cut off is a fault, not the user's cancel."""
        job = self.run_job(raise_it(CancelledError()))
        self.assertEqual(job.ops[0].status, Status.ERROR)
        self.flushLoggedErrors(CancelledError)

    def test_priority(self) -> None:
        """A new priority moves the waiting lock request and is in the file, for the opcodes to come."""
        self.rival_holds()
        run = self.job(lambda unit: 1, lambda unit: 2)
        done = Deferred.fromCoroutine(run.run())
        run.set_priority(-10)
        self.assertEqual([op.priority for op in self.on_disk().ops], [-10, -10])
        self.table.release_all(RIVAL)
        self.successResultOf(done)

    def test_status_while_it_runs(self) -> None:
        """The file says that the opcode runs while it does."""
        seen: list[Status] = []
        self.run_job(lambda unit: seen.append(self.on_disk().ops[0].status))
        self.assertEqual(seen, [Status.RUNNING])

    def test_feedback(self) -> None:
        """What a unit tells the operator is in the file at once."""
        seen: list[Any] = []

        def work(unit: Unit) -> None:
            unit.info("half way")
            seen.append(self.on_disk().ops[0].log)

        self.run_job(work)
        self.assertEqual([entry[3] for entry in seen[0]], ["half way"])

    def test_locks_that_cannot_be_released(self) -> None:
        """The job's end is written although its locks stay; the run then fails, so that its process ends."""
        self.locks = LocksThatStay(self.table, OWNER)
        run = self.job(lambda unit: 1)
        self.failureResultOf(Deferred.fromCoroutine(run.run()), ConfigurationError)
        self.assertEqual(self.on_disk().ops[0].status, Status.SUCCESS)
        self.assertIsNotNone(self.on_disk().end_timestamp)

    def full(self) -> OSError:
        """What the disk says."""
        return OSError(errno.ENOSPC, "No space left on device", str(PATH))

    def test_end_that_cannot_be_written(self) -> None:
        """The end of a job is held until the disk takes it, as it was; its locks are free meanwhile."""
        run = self.job(lambda unit: self.fill())
        done = Deferred.fromCoroutine(run.run())
        self.clock.pump([10] * 400)
        self.assertNoResult(done)
        self.assertEqual(self.table.held(OWNER), {})
        self.assertEqual(self.on_disk().ops[0].status, Status.RUNNING)
        self.files.fault = None
        self.clock.advance(30)
        self.successResultOf(done)
        self.assertEqual(self.on_disk().ops[0].status, Status.SUCCESS)
        self.assertIsNotNone(self.on_disk().end_timestamp)

    def fill(self) -> None:
        """The disk takes nothing any more."""
        self.files.fault = lambda operation, path: self.full() if operation == "write_atomic" else None

    def test_end_that_can_never_be_written(self) -> None:
        """After a day the run fails, so that luxid hears of it."""
        run = self.job(lambda unit: self.fill())
        done = Deferred.fromCoroutine(run.run())
        self.clock.pump([29] * 3000)
        self.failureResultOf(done, OSError)

    def test_not_begun_when_it_cannot_be_written(self) -> None:
        """An opcode whose beginning cannot be written does nothing, and its error says why."""
        done_work: list[int] = []
        run = self.job(lambda unit: done_work.append(1))
        self.fill()
        done = Deferred.fromCoroutine(run.run())
        self.files.fault = None
        self.clock.advance(30)
        self.successResultOf(done)
        self.assertEqual(done_work, [])
        op = self.on_disk().ops[0]
        self.assertEqual(op.status, Status.ERROR)
        self.assertIn("not begun: cannot write the job's file", str(op.result))
        self.assertIn(f"{PATH}: No space left on device", str(op.result))

    def test_success_that_is_written_later(self) -> None:
        """The success of an opcode is not lost when it could not be written at once: what follows tells it."""
        run = self.job(lambda unit: self.fill(), lambda unit: 2)
        done = Deferred.fromCoroutine(run.run())
        self.files.fault = None
        self.clock.advance(30)
        self.successResultOf(done)
        self.assertEqual([op.status for op in self.on_disk().ops], [Status.SUCCESS, Status.ERROR])


class TurnTests(JobRunCase):
    """Tries to get locks, and turns between opcodes."""

    def waiting_job(self, *works: Work) -> "tuple[JobRun, Deferred[None]]":
        """A job that waits for the rival's lock."""
        self.rival_holds()
        run = self.job(*works)
        return run, Deferred.fromCoroutine(run.run())

    def rival_waits_for_all(self) -> "Deferred[None]":
        """Somebody wants the cluster for himself."""
        return self.table.update(Owner(9, "/livelocks/job_3"), [LockRequest(BGL, Mode.EXCLUSIVE)])

    def test_failed_try(self) -> None:
        """A try that fails raises the priority in the file, and the next one begins at once when nobody wants the slot."""
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

    def test_everything_is_released(self) -> None:
        """Between two tries nothing is held, the big lock neither, so that whoever needs it gets through."""
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
        """At -20 there is one try, without limit."""
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
        self.turns = [False]
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
        self.turns = [False]
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
        self.turns = [False]
        run = self.job(lambda unit: 1, lambda unit: 2)
        run.secrets = {1: {}}
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertEqual(self.on_disk().status, Status.SUCCESS)

    def test_no_way_back(self) -> None:
        """A job that cannot be written back into the queue goes on."""
        self.turns = [False]
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

    def test_stop_before_the_turn(self) -> None:
        """A job that shall stop asks for no turn: it ends."""
        run = self.job(lambda unit: self.stop(run), lambda unit: 2)
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertEqual(self.asked, [])
        self.assertEqual([op.status for op in self.on_disk().ops], [Status.SUCCESS, Status.CANCELED])
