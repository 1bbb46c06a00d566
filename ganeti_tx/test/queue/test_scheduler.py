"""The life of jobs, from submission to their end."""

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobQueueError, OpPrereqError
from ganeti_tx.model.opcodes import OpCode, OpTestDelay, OpTestOsParams, Secret
from ganeti_tx.model.opcodes.types import FinalStatus
from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.job import MAX_JOB_FILE, QueuedJob, Status, decode_job, encode_job, ended, put_back
from ganeti_tx.queue.launcher import NeverGiven, RunnerDied
from ganeti_tx.queue.scheduler import Scheduler
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.launcher import FakeLauncher, FakeRunner


class Queue:
    """A queue in memory."""

    def __init__(self, files: MemoryFiles | None = None, limit: int = 20) -> None:
        self.clock = Clock()
        self.clock.advance(1000)
        self.files = files or MemoryFiles()
        self.paths = Paths()
        self.files.mkdir(self.paths.data_dir)
        self.copies: list[dict[str, bytes]] = []
        self.renames: list[Any] = []
        self.store = JobStore(self.files, self.paths, self._replicate, self.renames.append)
        self.launcher = FakeLauncher()
        self.changes = JobChanges(self.clock, self.store.get)
        self.limit = limit
        self.looks_for_dead = 0
        self.scheduler = Scheduler(
            self.store,
            self.changes,
            self.launcher,
            self.clock.seconds,
            lambda: self.limit,
            tracked_limit=lambda: 25,
            look_for_dead=self.look_for_dead,
            rules=dict,
        )

    async def look_for_dead(self) -> None:
        """Somebody's process died."""
        self.looks_for_dead += 1

    async def _replicate(self, files: dict[str, bytes]) -> None:
        self.copies.append(files)

    def on_disk(self, job_id: int) -> QueuedJob:
        """The job's file."""
        return decode_job(self.files.read(self.paths.job_file(job_id), MAX_JOB_FILE))

    def finish(self, runner: FakeRunner, status: Status = Status.SUCCESS) -> None:
        """Let a runner bring its job to an end, as the real one does: the file first, then the word."""
        assert runner.job is not None
        self.finish_without_word(runner.job, status)
        runner.over.callback(None)

    def step_back(self, runner: FakeRunner, done: int = 0, priority: int = 0) -> None:
        """Let a runner write its job back into the queue after so many opcodes, and be free."""
        assert runner.job is not None
        ops = [
            msgspec.structs.replace(op, status=Status.SUCCESS) if index < done else
            msgspec.structs.replace(op, priority=priority)
            for index, op in enumerate(runner.job.ops)
        ]  # fmt: skip
        job = put_back(msgspec.structs.replace(runner.job, ops=ops))
        run_now(self.files.write_atomic(self.paths.job_file(job.id), encode_job(job)))
        runner.over.callback(None)

    def started(self) -> list[int]:
        """The ids of the jobs in the order in which they were handed to runners."""
        return [runner.job.id for runner in self.launcher.runners if runner.job is not None]

    def finish_without_word(self, job: QueuedJob, status: Status = Status.SUCCESS) -> None:
        """Write a job's end."""
        data = encode_job(ended(job, status, None, self.clock.seconds()))
        run_now(self.files.write_atomic(self.paths.job_file(job.id), data))


def run_now(work: Any) -> Any:
    """The result of a coroutine that waits for nothing."""
    results: list[Any] = []
    Deferred.fromCoroutine(work).addBoth(results.append)
    return results[0]


class SchedulerTests(SynchronousTestCase):
    """What happens to a job."""

    def setUp(self) -> None:
        self.queue = Queue()
        run_now(self.queue.store.load())

    def submit(self, *jobs: Sequence[OpCode]) -> list[int]:
        """Submit jobs and wait for their ids."""
        return self.successResultOf(Deferred.fromCoroutine(self.queue.scheduler.submit(jobs)))

    def status(self, job_id: int) -> Status:
        """The status in the job's file."""
        return self.queue.on_disk(job_id).status

    def test_submitted_job_is_on_disk_and_copied(self) -> None:
        """When a submission returns, the job's file and the serial number are here and were sent to the candidates."""
        self.queue.launcher.holding = True
        (job_id,) = self.submit([OpTestDelay(duration=0.0)])
        self.assertEqual(job_id, 1)
        self.assertEqual(self.status(1), Status.QUEUED)
        self.assertEqual(set(self.queue.copies[0]), {"job-1", "serial"})
        self.assertEqual(self.queue.files.read(self.queue.paths.queue_serial_file, 100), b"1\n")

    def test_livelock_is_written_before_the_start(self) -> None:
        """A runner gets a job only when the job's file names its livelock."""
        self.submit([OpTestDelay(duration=0.0)])
        (runner,) = self.queue.launcher.runners
        assert runner.job is not None
        self.assertEqual(self.queue.on_disk(1).livelock, runner.livelock)
        self.assertEqual(self.queue.on_disk(1).process_id, runner.process_id)
        self.assertEqual(self.status(1), Status.WAITING)

    def test_success(self) -> None:
        """A job is over when its runner says so and its file holds the end."""
        self.submit([OpTestDelay(duration=0.0)])
        self.queue.finish(self.queue.launcher.runners[0])
        self.assertEqual(self.queue.store.jobs[1].status, Status.SUCCESS)

    def test_running_limit(self) -> None:
        """No more jobs than the limit run; the next starts when one ends."""
        self.queue = Queue(limit=2)
        run_now(self.queue.store.load())
        self.submit(*[[OpTestDelay(duration=0.0)]] * 3)
        self.assertEqual(len(self.queue.launcher.runners), 2)
        self.queue.finish(self.queue.launcher.runners[0])
        self.assertEqual(len(self.queue.launcher.runners), 3)

    def test_urgent_first(self) -> None:
        """Of jobs that wait, the one with the lowest priority number starts first, then the oldest."""
        self.queue = Queue(limit=1)
        run_now(self.queue.store.load())
        jobs = [OpTestDelay(duration=0.0, priority=priority) for priority in (0, 10, -10, 0)]
        self.submit(*[[job] for job in jobs])
        order = []
        for number in range(4):
            runner = self.queue.launcher.runners[number]
            assert runner.job is not None
            order.append(runner.job.id)
            self.queue.finish(runner)
        self.assertEqual(order, [3, 1, 4, 2])

    def test_dead_runner_is_named(self) -> None:
        """A job whose process died ends as an error that names the process and its livelock."""
        self.submit([OpTestDelay(duration=0.0), OpTestDelay(duration=1.0)])
        runner = self.queue.launcher.runners[0]
        runner.kill()
        job = self.queue.on_disk(1)
        self.assertEqual(job.status, Status.ERROR)
        self.assertIn(runner.livelock, job.ops[0].result[1][0])
        self.assertEqual([op.status for op in job.ops], [Status.ERROR, Status.ERROR])

    def test_runner_gone_before_the_job(self) -> None:
        """A job that its process was never given gets another one."""
        self.submit([OpTestDelay(duration=0.0)])
        self.queue.launcher.runners[0].over.errback(NeverGiven("gone"))
        self.assertEqual(self.queue.started(), [1, 1])
        self.assertEqual(self.queue.on_disk(1).livelock, self.queue.launcher.runners[1].livelock)

    def test_no_process(self) -> None:
        """A job for which no process can be had ends as an error that says so."""
        self.queue.launcher.holding = True
        self.submit([OpTestDelay(duration=0.0)])
        self.queue.launcher.refuse("no memory")
        self.assertIn("no memory", self.queue.on_disk(1).ops[0].result[1][0])

    def test_priority_of_a_waiting_job(self) -> None:
        """A changed priority changes the order of those that wait."""
        self.queue = Queue(limit=1)
        run_now(self.queue.store.load())
        self.submit(*[[OpTestDelay(duration=0.0)]] * 3)
        self.successResultOf(Deferred.fromCoroutine(self.queue.scheduler.change_priority(3, -5)))
        self.queue.finish(self.queue.launcher.runners[0])
        second = self.queue.launcher.runners[1].job
        assert second is not None
        self.assertEqual(second.id, 3)
        self.assertEqual(self.queue.on_disk(3).ops[0].priority, -5)

    def test_priority_of_a_running_job(self) -> None:
        """The runner is told, since the file is its own."""
        self.submit([OpTestDelay(duration=0.0)])
        self.successResultOf(Deferred.fromCoroutine(self.queue.scheduler.change_priority(1, 5)))
        self.assertEqual(self.queue.launcher.runners[0].priority, 5)

    def test_relative_dependency(self) -> None:
        """-1 means the job before it in the submission; the dependent starts when that one has succeeded."""
        dependent = OpTestDelay(duration=0.0, depends=((-1, (FinalStatus.SUCCESS,)),))
        self.submit([OpTestDelay(duration=0.0)], [dependent])
        self.assertEqual(self.queue.on_disk(2).ops[0].input["depends"], [[1, ["success"]]])
        self.assertEqual(len(self.queue.launcher.runners), 1)
        self.queue.finish(self.queue.launcher.runners[0])
        self.assertEqual(len(self.queue.launcher.runners), 2)

    def test_failed_dependency(self) -> None:
        """A job whose dependency ended otherwise than it needs is an error that names it."""
        dependent = OpTestDelay(duration=0.0, depends=((-1, (FinalStatus.SUCCESS,)),))
        self.submit([OpTestDelay(duration=0.0)], [dependent])
        self.queue.finish(self.queue.launcher.runners[0], Status.ERROR)
        self.assertEqual(self.status(2), Status.ERROR)
        self.assertIn("job 1", self.queue.on_disk(2).ops[0].result[1][0])

    def test_dependency_on_the_future(self) -> None:
        """A job can only depend on an earlier one."""
        wrong = OpTestDelay(duration=0.0, depends=((7, (FinalStatus.SUCCESS,)),))
        self.failureResultOf(Deferred.fromCoroutine(self.queue.scheduler.submit([[wrong]])), OpPrereqError)
        self.assertEqual(dict(self.queue.store.jobs), {})

    def test_secrets_of_refused_jobs(self) -> None:
        """The secrets of a job that the disk refused are not kept."""
        self.queue.files.fault = lambda operation, path: OSError(errno.ENOSPC, "full") if "write" in operation else None
        op = OpTestOsParams(osparams_secret={"password": Secret("hunter2")})
        self.failureResultOf(Deferred.fromCoroutine(self.queue.scheduler.submit([[op]])), JobQueueError)
        self.assertEqual(self.queue.scheduler.runs.secrets, {})

    def test_secrets_travel_beside_the_file(self) -> None:
        """A secret parameter reaches the runner and no file."""
        self.submit([OpTestOsParams(osparams_secret={"password": Secret("hunter2")})])
        files = b"".join(data for copy in self.queue.copies for data in copy.values())
        self.assertNotIn(b"hunter2", files + encode_job(self.queue.on_disk(1)))
        self.assertEqual(self.queue.launcher.runners[0].secrets, {0: {"osparams_secret": {"password": "hunter2"}}})

    def test_full_disk_refuses(self) -> None:
        """When the disk is full the submission fails clearly, no job exists, and the next one works."""
        full = OSError(errno.ENOSPC, "No space left on device")
        self.queue.files.fault = lambda operation, path: full if path.name.startswith("job-") else None
        failure = self.failureResultOf(
            Deferred.fromCoroutine(self.queue.scheduler.submit([[OpTestDelay(duration=0.0)]])), JobQueueError
        )
        self.assertIn("No space left", str(failure.value))
        self.assertEqual(dict(self.queue.store.jobs), {})
        self.queue.files.fault = None
        self.assertEqual(self.submit([OpTestDelay(duration=0.0)]), [2])

    def test_empty_job(self) -> None:
        """A job without opcodes is accepted and is a success (Ganeti 3.0 LUXI table)."""
        self.submit([])
        self.assertEqual(self.status(1), Status.SUCCESS)
        self.assertEqual(self.queue.launcher.runners, [])


class RestartTests(SynchronousTestCase):
    """What a new luxid makes of the jobs it finds."""

    def restart(self, files: MemoryFiles, living: set[str]) -> Queue:
        """A queue over the files that an earlier one left."""
        queue = Queue(files)
        queue.launcher.living = living
        run_now(queue.store.load())
        run_now(queue.scheduler.resume())
        return queue

    def left_behind(self) -> Queue:
        """A queue with one waiting (started) job and one queued job."""
        queue = Queue(limit=1)
        run_now(queue.store.load())
        run_now(queue.scheduler.submit([[OpTestDelay(duration=0.0)], [OpTestDelay(duration=0.0)]]))
        return queue

    def test_dead_are_ended_and_queued_go_on(self) -> None:
        """A job that ran in a process that is gone is an error; one that was never started starts."""
        old = self.left_behind()
        first = old.store.jobs[1]
        running = [msgspec.structs.replace(first.ops[0], status=Status.RUNNING)]
        run_now(old.store.put(msgspec.structs.replace(first, ops=running)))
        queue = self.restart(old.files, living=set())
        self.assertEqual(queue.on_disk(1).status, Status.ERROR)
        self.assertEqual(queue.on_disk(2).status, Status.WAITING)

    def test_what_had_not_begun_is_started_again(self) -> None:
        """A job that still waited in a process that is gone has changed nothing: it gets another process."""
        old = self.left_behind()
        queue = self.restart(old.files, living=set())
        self.assertEqual(queue.on_disk(1).status, Status.WAITING)
        self.assertEqual([runner.job.id for runner in queue.launcher.runners if runner.job], [1, 2])
        self.assertEqual(queue.on_disk(1).livelock, queue.launcher.runners[0].livelock)

    def test_living_go_on(self) -> None:
        """A job whose process lives is followed to its end, not started again."""
        old = self.left_behind()
        queue = self.restart(old.files, living={old.launcher.runners[0].livelock})
        adopted = queue.launcher.runners[0]
        self.assertEqual(adopted.livelock, old.launcher.runners[0].livelock)
        queue.finish(adopted)
        self.assertEqual(queue.store.jobs[1].status, Status.SUCCESS)

    def left_with_secrets(self) -> Queue:
        """As `left_behind`, both jobs with a secret parameter."""
        queue = Queue(limit=1)
        run_now(queue.store.load())
        op = OpTestOsParams(osparams_secret={"password": Secret("hunter2")})
        run_now(queue.scheduler.submit([[op], [op]]))
        return queue

    def test_lost_secrets(self) -> None:
        """A job whose secrets ended with the old daemon is an error that says so; it does not run without them."""
        queue = self.restart(self.left_with_secrets().files, living=set())
        for job_id in (1, 2):
            self.assertEqual(queue.on_disk(job_id).status, Status.ERROR)
            self.assertIn("secret parameters (osparams_secret) are kept in memory only", str(queue.on_disk(job_id)))
        self.assertEqual(queue.launcher.runners, [])

    def test_secrets_of_the_living(self) -> None:
        """A process that lives has its job's secrets and goes on; one that dies before it began cannot be replaced."""
        old = self.left_with_secrets()
        queue = self.restart(old.files, living={old.launcher.runners[0].livelock})
        self.assertEqual(queue.on_disk(1).status, Status.WAITING)
        queue.launcher.runners[0].over.errback(RunnerDied("it was killed"))
        self.assertEqual(queue.on_disk(1).status, Status.ERROR)
        self.assertEqual(len(queue.launcher.runners), 1)

    def test_ended_while_the_dead_are_looked_for(self) -> None:
        """A job that its process ends while luxid starts stays as it ended."""
        old = self.left_behind()
        queue = Queue(old.files)
        run_now(queue.store.load())
        queue.finish_without_word(old.store.jobs[1])
        run_now(queue.scheduler.resume())
        self.assertEqual(queue.on_disk(1).status, Status.SUCCESS)

    def test_numbers_are_never_used_twice(self) -> None:
        """Numbering goes on after the highest of serial file and job files."""
        old = self.left_behind()
        run_now(old.files.write_atomic(old.paths.queue_serial_file, b"junk"))
        queue = self.restart(old.files, living=set())
        self.assertEqual(run_now(queue.scheduler.submit([[]])), [3])
        self.flushLoggedErrors()

    def test_torn_file_is_left_out(self) -> None:
        """A file that is no job keeps nobody from working."""
        old = self.left_behind()
        run_now(old.files.write_atomic(old.paths.queue_dir / "job-7", b'{"id": 7, "ops": [{'))
        run_now(old.files.write_atomic(old.paths.queue_dir / "notes.txt", b"hello"))
        queue = self.restart(old.files, living=set())
        self.assertEqual(set(queue.store.jobs), {1, 2})


class ArchiveTests(SynchronousTestCase):
    """Moving finished jobs out of the way."""

    def test_only_finished(self) -> None:
        """A finished job moves to its archive directory, here and on the candidates; an open one stays."""
        queue = Queue()
        run_now(queue.store.load())
        run_now(queue.scheduler.submit([[], [OpTestDelay(duration=0.0)]]))
        self.assertEqual(run_now(queue.store.archive([1, 2])), 1)
        self.assertEqual(set(queue.store.jobs), {2})
        self.assertTrue(queue.files.exists(Path("/var/lib/ganeti/queue/archive/0/job-1")))
        self.assertEqual(queue.renames, [[("job-1", "archive/0/job-1")]])
        found = queue.store.find(1)
        assert found is not None
        self.assertTrue(found[1])


class JobFileTests(SynchronousTestCase):
    """The job file's form."""

    def test_words_of_the_status(self) -> None:
        """The states have the words of the Ganeti 3.0 LUXI table."""
        words = "queued waiting canceling running canceled success error"
        self.assertEqual(" ".join(Status), words)

    def test_keys_of_an_unstarted_job(self) -> None:
        """livelock and process_id are absent before the start (Ganeti 3.0 LUXI table)."""
        keys = set(msgspec.json.decode(encode_job(QueuedJob(id=1, ops=[]))))
        self.assertEqual(keys, {"id", "ops", "received_timestamp", "start_timestamp", "end_timestamp"})

    def test_round_trip(self) -> None:
        """What is written is read."""
        job = QueuedJob(id=3, ops=[], livelock="/x/y", process_id=4, received_timestamp=(5, 6))
        self.assertEqual(decode_job(encode_job(job)), job)
