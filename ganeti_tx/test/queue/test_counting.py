"""What is counted of jobs."""

from collections.abc import Mapping

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.metrics.jobs import ENDED, JOBS, OLDEST, RUN, WAIT
from ganeti_tx.metrics.locks import LONGEST_WAIT
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.queue.counting import count_end, describe_queue
from ganeti_tx.queue.files.job_head import head_of
from ganeti_tx.queue.files.loading import LiveJob
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status

DELAY = {"OP_ID": "OP_TEST_DELAY", "duration": 1.0}
START = {"OP_ID": "OP_INSTANCE_STARTUP", "instance_name": "web1.example.com"}


def job(*ops: Mapping[str, object], status: Status = Status.SUCCESS, **times: tuple[int, int] | None) -> QueuedJob:
    """A job, received at 100, started at 103.5 and ended at 110 unless `times` say otherwise."""
    made = [QueuedOp(input=dict(op), status=status) for op in ops or (DELAY,)]
    given = {"received_timestamp": (100, 0), "start_timestamp": (103, 500_000), "end_timestamp": (110, 0), **times}
    return msgspec.convert({"id": 1, "ops": msgspec.to_builtins(made), **given}, QueuedJob)


class EndTests(SynchronousTestCase):
    """Jobs that have ended."""

    def setUp(self) -> None:
        self.tally = Tally()

    def ended(self, *jobs: QueuedJob) -> dict[tuple[str, ...], float]:
        """What is counted of the ends of these."""
        for each in jobs:
            count_end(self.tally, head_of(each))
        return {each.labels: each.value for each in self.tally.readings().values[ENDED.name]}

    def test_opcode(self) -> None:
        """A job counts under its opcode without what it was done to, or as one of several."""
        found = self.ended(job(), job(START), job(START, START), job(START, DELAY, status=Status.ERROR))
        self.assertEqual(
            found, {("TEST_DELAY", "success"): 1, ("INSTANCE_STARTUP", "success"): 2, ("several", "error"): 1}
        )

    def test_unknown_opcode(self) -> None:
        """A job file from elsewhere makes no series of its own, whatever its opcode is called."""
        self.assertEqual(self.ended(job({"OP_ID": "OP_NO_SUCH(x)"})), {("unknown", "success"): 1})

    def test_times(self) -> None:
        """The wait is from the submission to the start, the run from there to the end."""
        self.ended(job())
        spreads = self.tally.readings().spreads
        self.assertEqual([each.sum for each in spreads[WAIT.name]], [3.5])
        self.assertEqual([each.sum for each in spreads[RUN.name]], [6.5])

    def test_never_started(self) -> None:
        """A job that was cancelled in the queue has ended, and never waited for a start that came."""
        self.ended(job(status=Status.CANCELED, start_timestamp=None))
        self.assertEqual(self.tally.readings().spreads, {})


class QueueTests(SynchronousTestCase):
    """The queue as it is."""

    def described(self, *jobs: LiveJob, now: float = 200.0) -> dict[tuple[str, ...], float]:
        """The gauges."""
        tally = Tally()
        describe_queue(tally, jobs, now)
        return {(name, *each.labels): each.value for name, series in tally.readings().values.items() for each in series}

    def test_ages(self) -> None:
        """The oldest of a status counts; ended jobs have no age, and without any job there is none."""
        old, young = job(status=Status.QUEUED), job(status=Status.QUEUED, received_timestamp=(150, 0))
        found = self.described(young, old, head_of(job()))
        self.assertEqual(
            (found[JOBS.name, "queued"], found[JOBS.name, "success"], found[JOBS.name, "error"]), (2, 1, 0)
        )
        self.assertEqual(found[OLDEST.name, "queued"], 100)
        self.assertEqual(found[OLDEST.name, "running"], 0)
        self.assertNotIn((OLDEST.name, "success"), found)

    def test_clock_set_back(self) -> None:
        """No job is younger than new, and none will wait only later."""
        self.assertEqual(self.described(job(status=Status.QUEUED), now=50.0)[OLDEST.name, "queued"], 0)
        waiting = job(status=Status.WAITING)
        ops = [msgspec.structs.replace(op, start_timestamp=(140, 0)) for op in waiting.ops]
        self.assertEqual(self.described(msgspec.structs.replace(waiting, ops=ops), now=50.0)[LONGEST_WAIT.name,], 0)

    def test_lock_wait(self) -> None:
        """An opcode waits for its locks since it was begun, whatever tries there were."""
        waiting = job(status=Status.WAITING)
        ops = [msgspec.structs.replace(op, start_timestamp=(140, 0)) for op in waiting.ops]
        found = self.described(msgspec.structs.replace(waiting, ops=ops), job(status=Status.RUNNING))
        self.assertEqual(found[LONGEST_WAIT.name,], 60)
