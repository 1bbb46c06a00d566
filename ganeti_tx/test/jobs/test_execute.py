"""The run of a job: its opcodes, its locks, its end."""

import errno
from typing import Any

from twisted.internet.defer import Deferred

from ganeti_tx.errors import (
    ConfigurationError,
    ECode,
    GanetiError,
    OpPrereqError,
)
from ganeti_tx.locking.levels import BGL, Mode
from ganeti_tx.model.opcodes import OpTestDelay, OpTestDummy
from ganeti_tx.model.signature import CALLER_SOURCE
from ganeti_tx.queue.job import Status
from ganeti_tx.test.jobs.case import (
    NODE,
    OWNER,
    PATH,
    RIVAL,
    JobRunCase,
    LocksThatCount,
    LocksThatStay,
    LocksWithoutPriorities,
    Unit,
    raise_it,
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

    def test_jobs_of_its_own(self) -> None:
        """What it submits is asked for by whoever asked for it, and by nobody else."""
        signature = ((CALLER_SOURCE, "token:ci", 1),)
        parent = OpTestDelay(duration=0.0, reason=(("gnt:user", "evacuate", 1), *signature))
        child = OpTestDelay(duration=1.0, reason=(("gnt:user", "move", 1), (CALLER_SOURCE, "ann", 1)))

        async def submit(unit: Unit) -> Any:
            return await unit.context.submit_jobs([[child]])

        for op, trail in ((parent, signature), (OpTestDelay(duration=0.0), ())):
            run = self.job(lambda unit: Deferred.fromCoroutine(submit(unit)), ops=[op])
            self.successResultOf(Deferred.fromCoroutine(run.run()))
            self.assertEqual(self.submitted.pop().reason, (("gnt:user", "move", 1), *trail))

    def test_locks(self) -> None:
        """While an opcode runs the job holds the big lock shared and what the unit asked for."""
        held: list[Any] = []
        self.run_job(lambda unit: held.append(self.table.held(OWNER)))
        self.assertEqual(held, [{BGL: Mode.SHARED, NODE: Mode.EXCLUSIVE}])

    def test_releases(self) -> None:
        """What an opcode held is released after it; before the first one there is nothing to release."""
        self.locks = locks = LocksThatCount(self.table, OWNER)
        self.run_job(lambda unit: 1, lambda unit: 2)
        self.assertEqual(locks.releases, [2, 2])

    def test_thrown_away(self) -> None:
        """With a process that is gone nothing is done any more: no locks are given back, no files are written."""
        run = self.job(lambda unit: Deferred()).run()
        Deferred.fromCoroutine(run)
        before = self.files.read(PATH, 10**6)
        run.close()
        self.assertEqual(self.table.held(OWNER), {BGL: Mode.SHARED, NODE: Mode.EXCLUSIVE})
        self.assertEqual(self.files.read(PATH, 10**6), before)

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

    def test_priority_while_wconfd_is_away(self) -> None:
        """A new priority that cannot reach the wait for locks is a line in the log, not a traceback."""
        self.rival_holds()
        run = self.job(lambda unit: 1)
        running = Deferred.fromCoroutine(run.run())
        self.locks = run.locks = LocksWithoutPriorities(self.table, OWNER)
        run.set_priority(-5)
        self.assertEqual(self.flushLoggedErrors(), [])
        self.assertEqual(self.on_disk().ops[0].priority, -5)
        self.table.release_all(RIVAL)
        self.successResultOf(running)

    def test_priority_comes_after_the_end(self) -> None:
        """A job that has ended, and may be in the archive by now, does not write its file again."""
        copied: Deferred[None] = Deferred()
        run = self.job(lambda unit: 1)
        run.journal.replicate = lambda files: copied
        running = Deferred.fromCoroutine(run.run())
        self.assertEqual(self.on_disk().status, Status.SUCCESS)
        self.files.remove(PATH)
        run.set_priority(5)
        copied.callback(None)
        self.successResultOf(running)
        self.assertFalse(self.files.exists(PATH))
