"""Cancelling jobs, and what is said about it."""

import msgspec
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.opcodes import OpTestDelay
from ganeti_tx.queue.job import QueuedJob, Status, encode_job
from ganeti_tx.queue.launcher import RunnerDied
from ganeti_tx.queue.requests import END_LIMIT, STOP_LIMIT
from ganeti_tx.queue.runs import RELEASE_LIMIT
from ganeti_tx.test.config.stores import SlowFiles
from ganeti_tx.test.fakes.launcher import FakeRunner
from ganeti_tx.test.queue.test_scheduler import Queue, run_now

Answer = tuple[bool, str]


class RequestCase(SynchronousTestCase):
    """One job of one opcode."""

    def setUp(self) -> None:
        self.begin(Queue())

    def begin(self, queue: Queue, submit: bool = True) -> None:
        """With this queue."""
        self.queue = queue
        run_now(queue.store.load())
        if submit:
            run_now(queue.scheduler.submit([[OpTestDelay(duration=0.0)]]))

    @property
    def runner(self) -> FakeRunner:
        """The job's."""
        return self.queue.launcher.runners[0]

    def cancel(self, kill: bool = False) -> "Deferred[Answer]":
        """Ask for it."""
        return Deferred.fromCoroutine(self.queue.scheduler.cancel(1, kill))

    def writes(self, status: Status) -> None:
        """The job's process writes its opcode's status."""
        job = self.queue.on_disk(1)
        ops = [msgspec.structs.replace(op, status=status) for op in job.ops]
        self.put(msgspec.structs.replace(job, ops=ops))

    def put(self, job: QueuedJob) -> None:
        """The job's process writes its file."""
        run_now(self.queue.files.write_atomic(self.queue.paths.job_file(job.id), encode_job(job)))
        self.queue.scheduler.file_changed(job.id)

    def status(self) -> Status:
        """By the file."""
        return self.queue.on_disk(1).status

    def assert_answer(self, asked: "Deferred[Answer]", done: bool, text: str) -> None:
        """The answer is there."""
        answer = self.successResultOf(asked)
        self.assertEqual((answer[0], text in answer[1]), (done, True), answer)


class CancelTests(RequestCase):
    """Without force."""

    def test_queued(self) -> None:
        """A queued job is canceled at once and never starts."""
        self.begin(Queue(limit=0))
        self.assert_answer(self.cancel(), True, "Job 1 canceled")
        self.assertEqual(self.status(), Status.CANCELED)
        self.queue.limit = 20
        self.queue.scheduler.wake()
        self.assertEqual(self.queue.launcher.runners, [])

    def test_while_a_process_is_awaited(self) -> None:
        """A job that waits for a process waits no longer: it is canceled at once."""
        queue = Queue()
        queue.launcher.holding = True
        self.begin(queue)
        self.assert_answer(self.cancel(), True, "Job 1 canceled")
        self.assertEqual(self.status(), Status.CANCELED)

    def test_while_the_start_is_written(self) -> None:
        """A cancel that comes between the choice of a process and the job's start is not lost, and not answered too early."""
        files = SlowFiles()
        queue = Queue(files)
        queue.launcher.holding = True
        self.begin(queue)
        files.slow = True
        queue.launcher.release()
        asked = self.cancel()
        self.assertNoResult(asked)
        files.slow = False
        files.finish()
        self.assert_answer(asked, True, "Job 1 canceled")
        self.assertEqual(self.status(), Status.CANCELED)
        self.assertIsNone(self.runner.job)
        self.assertEqual(queue.launcher.returned, [self.runner])

    def test_running(self) -> None:
        """A running job will be canceled, once its file says so."""
        self.writes(Status.RUNNING)
        self.runner.deaf = True
        asked = self.cancel()
        self.assertTrue(self.runner.canceled)
        self.writes(Status.CANCELING)
        self.assertNoResult(asked)
        self.runner.noted.callback(None)
        self.assert_answer(asked, True, "will be canceled at its next safe point")

    def test_waiting_for_locks(self) -> None:
        """A job that waits for locks is canceled when the answer is given."""
        asked = self.cancel()
        self.assertNoResult(asked)
        self.queue.finish(self.runner, Status.CANCELED)
        self.assert_answer(asked, True, "Job 1 canceled")

    def test_locks_that_do_not_come_free(self) -> None:
        """When the end of a job that waited takes long, the answer does not wait for it."""
        asked = self.cancel()
        self.queue.clock.advance(END_LIMIT)
        self.assert_answer(asked, True, "will be canceled")

    def test_moment_of_success(self) -> None:
        """A job that ends by itself before the word reaches its process was not canceled."""
        self.runner.deaf = True
        asked = self.cancel()
        job = self.runner.job
        assert job is not None
        self.queue.finish_without_word(job)
        self.runner.noted.callback(None)
        self.runner.over.callback(None)
        self.assert_answer(asked, False, "Job 1 is finished (success)")
        self.assertEqual(self.status(), Status.SUCCESS)

    def test_deaf_process(self) -> None:
        """A process that does not answer is named; nothing is claimed."""
        self.runner.deaf = True
        asked = self.cancel()
        self.queue.clock.advance(STOP_LIMIT)
        self.assert_answer(asked, False, "its process 1001 does not answer")

    def test_finished_or_unknown(self) -> None:
        """What is over or was never there cannot be canceled."""
        self.queue.finish(self.runner)
        self.assert_answer(self.cancel(), False, "Job 1 is finished (success), it cannot be canceled")
        unknown = Deferred.fromCoroutine(self.queue.scheduler.cancel(99, False))
        self.assert_answer(unknown, False, "Job 99 not found in queue")

    def test_canceled_before(self) -> None:
        """A job that was canceled before is finished."""
        self.queue.finish(self.runner, Status.CANCELED)
        self.assert_answer(self.cancel(), False, "finished (canceled)")

    def test_while_reordered(self) -> None:
        """A cancel that comes while a queued job's new priority is written is done after that, and once."""
        files = SlowFiles()
        self.begin(Queue(files, limit=0))
        files.slow = True
        changed = Deferred.fromCoroutine(self.queue.scheduler.change_priority(1, 10))
        asked = self.cancel()
        self.assertNoResult(asked)
        files.slow = False
        files.finish()
        self.assert_answer(asked, True, "Job 1 canceled")
        self.successResultOf(changed)
        self.assertEqual(self.status(), Status.CANCELED)

    def test_twice(self) -> None:
        """Whoever asks a second time while it is under way hears the same."""
        asked = [self.cancel(), self.cancel()]
        self.queue.finish(self.runner, Status.CANCELED)
        for each in asked:
            self.assert_answer(each, True, "Job 1 canceled")


class KillTests(RequestCase):
    """With force, and deaths."""

    def test_kill(self) -> None:
        """A killed job is canceled, not in error; its locks are freed before anybody reads of it."""
        self.writes(Status.RUNNING)
        self.assert_answer(self.cancel(kill=True), True, "Job 1 was killed")
        self.assertEqual(self.status(), Status.CANCELED)
        self.assertIn("killed", str(self.queue.on_disk(1).ops[0].result))
        self.assertEqual(self.queue.looks_for_dead, 1)

    def test_moment_of_success(self) -> None:
        """A job that had ended when the signal came was not killed."""
        job = self.runner.job
        assert job is not None
        self.queue.finish_without_word(job)
        self.assert_answer(self.cancel(kill=True), False, "Job 1 is finished (success)")

    def test_queued(self) -> None:
        """A queued job has no process to be killed: it is canceled."""
        self.begin(Queue(limit=0))
        self.assert_answer(self.cancel(kill=True), True, "Job 1 canceled")

    def test_does_not_die(self) -> None:
        """A process that does not die in time is named."""
        self.runner.immortal = True
        asked = self.cancel(kill=True)
        self.queue.clock.advance(STOP_LIMIT)
        self.assert_answer(asked, False, "process 1001 was sent SIGKILL, but the job is not over yet")

    def test_death_frees_locks(self) -> None:
        """When a process dies WConfD is told, before the job's file tells of it."""
        self.writes(Status.RUNNING)
        freed: Deferred[None] = Deferred()
        self.look_answers(freed)
        self.runner.over.errback(Failure(RunnerDied("its livelock is free")))
        self.assertEqual(self.status(), Status.RUNNING)
        freed.callback(None)
        self.assertEqual(self.status(), Status.ERROR)
        self.assertIn("process 1001 of job 1", str(self.queue.on_disk(1).ops[0].result))

    def test_death_without_wconfd(self) -> None:
        """When WConfD cannot be told, the job's end is written all the same."""
        never: Deferred[None] = Deferred()
        self.look_answers(never)
        self.runner.over.errback(Failure(RunnerDied("its livelock is free")))
        self.queue.clock.advance(RELEASE_LIMIT)
        self.assertEqual(self.status(), Status.ERROR)

    def test_death_with_broken_wconfd(self) -> None:
        """The same when it answers with an error."""
        failed: Deferred[None] = Deferred()
        self.look_answers(failed)
        self.runner.over.errback(Failure(RunnerDied("its livelock is free")))
        failed.errback(ConfigurationError("away"))
        self.assertEqual(self.status(), Status.ERROR)

    def look_answers(self, answer: "Deferred[None]") -> None:
        """WConfD takes its time."""

        async def look_for_dead() -> None:
            await answer

        self.queue.scheduler.runs.look_for_dead = look_for_dead


class LentOnTests(RequestCase):
    """The process is done with job 1, and may have the next; luxid still writes the file of job 1."""

    def setUp(self) -> None:
        super().setUp()
        self.copied: Deferred[None] = Deferred()
        self.successResultOf(Deferred.fromCoroutine(self.queue.scheduler.change_priority(1, 10)))
        self.runner.priority = None
        self.queue.store.replicate = lambda files: self.copied
        self.queue.step_back(self.runner)

    def test_cancel(self) -> None:
        """Who cancels job 1 does not stop another job; job 1 is canceled once its file is written."""
        asked = self.cancel()
        self.assertNoResult(asked)
        self.copied.callback(None)
        self.assertFalse(self.runner.canceled)
        self.assert_answer(asked, True, "Job 1 canceled")

    def test_kill(self) -> None:
        """Who kills job 1 does not kill another job."""
        asked = self.cancel(kill=True)
        self.copied.callback(None)
        self.assertFalse(self.runner.killed)
        self.assert_answer(asked, True, "Job 1 canceled")

    def test_priority(self) -> None:
        """Who changes the priority of job 1 does not change that of another job."""
        changed = Deferred.fromCoroutine(self.queue.scheduler.change_priority(1, -10))
        self.assert_answer(changed, False, "just being started or ended")
        self.assertEqual(self.runner.priority, None)
