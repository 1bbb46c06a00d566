"""From what happens to jobs to events."""

from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxid.events.job_events import MAX_SUMMARIES, MAX_TEXT, JobEvents, changes
from ganeti_tx.luxid.events.job_objects import MOST, about
from ganeti_tx.model.events import Event, JobEvent, Kind, LogEvent, OpcodeEvent
from ganeti_tx.model.opcodes import OpCode, OpInstanceShutdown, OpTestDelay, OpTestOsParams, Secret
from ganeti_tx.queue.job import QueuedJob, Status, encode_job, ended, put_back
from ganeti_tx.queue.submission import new_job
from ganeti_tx.test.queue.test_scheduler import Queue, run_now

SHUTDOWN = OpInstanceShutdown(instance_name="web1")


class JobEventCase(SynchronousTestCase):
    """A queue in memory whose jobs are told about."""

    def setUp(self) -> None:
        self.queue = Queue()
        run_now(self.queue.store.load())
        self.told: list[Event] = []
        self.queue.store.observers.append(JobEvents(self.told.append, self.queue.clock.seconds))
        self.queue.changes.listeners.append(self.queue.store.glance)

    def submit(self, *ops: OpCode) -> QueuedJob:
        """Submit a job that is started at once."""
        (job_id,) = run_now(self.queue.scheduler.submit([ops]))
        job = self.queue.store.get(job_id)
        assert job is not None
        return job

    def write(self, job: QueuedJob) -> None:
        """The job's process writes its file, which luxid hears of."""
        run_now(self.queue.files.write_atomic(self.queue.paths.job_file(job.id), encode_job(job)))
        self.queue.scheduler.file_changed(job.id)

    def heard(self) -> list[tuple[Any, ...]]:
        """What was told since the last look, in short."""
        told = [short(event) for event in self.told]
        self.told.clear()
        return told


def short(event: Event) -> tuple[Any, ...]:
    """What matters of an event."""
    match event:
        case JobEvent():
            return ("job", event.job, event.change, event.status)
        case OpcodeEvent():
            return ("opcode", event.job, event.index, event.status)
        case LogEvent():
            return ("log", event.job, event.index, event.serial, event.text)
    raise AssertionError(event)


def with_op(job: QueuedJob, index: int, **changed: Any) -> QueuedJob:
    """The job with one opcode changed."""
    ops = list(job.ops)
    ops[index] = msgspec.structs.replace(ops[index], **changed)
    return msgspec.structs.replace(job, ops=ops)


class LifeTests(JobEventCase):
    """The walk of a job."""

    def test_success(self) -> None:
        """It is received, begins, does its opcodes one by one with their messages, and ends; nothing twice."""
        job = self.submit(OpTestDelay(duration=0.0), SHUTDOWN)
        self.assertEqual(
            self.heard(),
            [("job", 1, "received", "queued"), ("job", 1, "status", "waiting"), ("opcode", 1, 0, "waiting")],
        )
        job = with_op(job, 0, status=Status.RUNNING, log=[(1, (5, 0), "message", "one")])
        self.write(job)
        self.assertEqual(
            self.heard(), [("job", 1, "status", "running"), ("opcode", 1, 0, "running"), ("log", 1, 0, 1, "one")]
        )
        self.write(job)
        self.assertEqual(self.heard(), [])
        job = with_op(job, 0, status=Status.SUCCESS, log=[*job.ops[0].log, (2, (6, 0), "message", "two")])
        job = with_op(job, 1, status=Status.SUCCESS, log=[(3, (7, 0), "message", "three")])
        self.write(job)
        self.assertEqual(
            self.heard(),
            [
                ("log", 1, 0, 2, "two"),
                ("opcode", 1, 0, "success"),
                ("log", 1, 1, 3, "three"),
                ("opcode", 1, 1, "success"),
                ("job", 1, "status", "success"),
            ],
        )
        self.queue.store.get(1)  # its file is read again
        self.queue.launcher.runners[0].over.callback(None)
        self.assertEqual(self.heard(), [])
        run_now(self.queue.store.archive([1]))
        self.assertEqual(self.heard(), [("job", 1, "archived", "success")])

    def test_all_at_once(self) -> None:
        """What happened between two looks is told in an order in which it may have happened."""
        job = self.submit(OpTestDelay(duration=0.0))
        self.heard()
        job = with_op(job, 0, log=[(1, (5, 0), "message", "one")])
        self.write(ended(job, Status.ERROR, None, 9.0))
        self.assertEqual(
            self.heard(), [("log", 1, 0, 1, "one"), ("opcode", 1, 0, "error"), ("job", 1, "status", "error")]
        )

    def test_cancel_and_priority(self) -> None:
        """What luxid itself does with a job that waits is told too."""
        self.queue.limit = 0
        self.submit(OpTestDelay(duration=0.0))
        run_now(self.queue.scheduler.change_priority(1, -7))
        run_now(self.queue.scheduler.cancel(1, False))
        priority = self.told[1]
        assert isinstance(priority, JobEvent)
        self.assertEqual(priority.priority, -7)
        self.assertEqual(
            self.heard(),
            [
                ("job", 1, "received", "queued"),
                ("job", 1, "priority", "queued"),
                ("opcode", 1, 0, "canceled"),
                ("job", 1, "status", "canceled"),
            ],
        )

    def test_put_back(self) -> None:
        """A job that waits in the queue again says so."""
        job = self.submit(OpTestDelay(duration=0.0))
        self.heard()
        self.write(put_back(job))
        self.assertEqual(self.heard(), [("job", 1, "status", "queued"), ("opcode", 1, 0, "queued")])

    def test_lost_file(self) -> None:
        """A job whose file somebody took away is told as lost."""
        self.submit(OpTestDelay(duration=0.0))
        self.heard()
        self.queue.files.remove(self.queue.paths.job_file(1))
        self.queue.launcher.runners[0].over.callback(None)
        self.assertEqual(self.heard(), [("job", 1, "lost", "waiting")])


class ContentTests(JobEventCase):
    """What events hold, and what not."""

    def test_no_secrets(self) -> None:
        """Secret parameters are in no event."""
        self.submit(OpTestOsParams(osparams_secret={"key": Secret("hunter2")}))
        self.assertNotIn(b"hunter2", msgspec.json.encode(self.told))
        self.assertIn(b"TEST_OS_PARAMS", msgspec.json.encode(self.told))

    def test_long_text(self) -> None:
        """A long message is cut, and what is no text becomes JSON."""
        log = [(1, (5, 250_000), "message", "x" * (MAX_TEXT + 1)), (2, (5, 0), "other", {"a": [1]})]
        job = new_job(1, [SHUTDOWN], 1.0)
        one, two = changes(job, with_op(job, 0, log=log), 9.0)
        assert isinstance(one, LogEvent) and isinstance(two, LogEvent)
        self.assertEqual((len(one.text), one.cut, one.time), (MAX_TEXT, True, 5.25))
        self.assertEqual((two.text, two.cut, two.type), ('{"a": [1]}', False, "other"))
        self.assertEqual(one.about, ((Kind.INSTANCE, "web1"),))

    def test_summary(self) -> None:
        """Only a new job is summed up, and only its first opcodes."""
        self.submit(SHUTDOWN, *[OpTestDelay(duration=0.0)] * MAX_SUMMARIES)
        received, status, _ = self.told
        assert isinstance(received, JobEvent) and isinstance(status, JobEvent)
        self.assertEqual(received.summary[0], "INSTANCE_SHUTDOWN(web1)")
        self.assertEqual((len(received.summary), status.summary), (MAX_SUMMARIES, ()))

    def test_about(self) -> None:
        """What the parameters of opcodes name, each once, and whether it is more than is told."""
        found = about(
            [{"instance_name": "web1", "pnode": "n1"}, {"nodes": ["n1", "n2"]}, {"kind": "node", "name": "n3"}]
        )
        nodes = [(Kind.NODE, f"n{number}") for number in (1, 2, 3)]
        self.assertEqual((found.objects, found.more), (((Kind.INSTANCE, "web1"), *nodes), False))
        self.assertEqual(about([{"instances": [{"instance_name": "a"}, "b", 5, {}]}]).objects[1], (Kind.INSTANCE, "b"))
        many = about([{"node_names": [str(number) for number in range(1000)]}])
        self.assertEqual((len(many.objects), many.more), (MOST, True))
        self.assertEqual(about([{"nodes": None, "name": 5, "kind": "cluster"}]).objects, ())
