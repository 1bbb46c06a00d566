"""Filter rules at work in the queue: what starts, what waits, what is ended."""

from collections.abc import Sequence

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.filter_rule import FilterAction, FilterRule
from ganeti_tx.model.opcodes import OpCode, OpTestDelay
from ganeti_tx.model.opcodes.types import FinalStatus
from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.job import QueuedJob, Status
from ganeti_tx.queue.scheduler import Scheduler
from ganeti_tx.test.fakes.launcher import FakeLauncher
from ganeti_tx.test.queue.filters.rules import rule
from ganeti_tx.test.queue.test_scheduler import Queue, run_now

PAUSED = "pause me"


class CountingStore(JobStore):
    """Counts how often the queue looks at a job."""

    looks = 0

    def glance(self, job_id: int):  # type: ignore[no-untyped-def]
        """Count."""
        self.looks += 1
        return super().glance(job_id)


def delay(*reasons: str, priority: int = 0) -> list[OpCode]:
    """A job with reasons."""
    trail = tuple(("gnt:user", text, 1) for text in reasons)
    return [OpTestDelay(duration=0.0, reason=trail, priority=priority)]  # type: ignore[arg-type]


class GateCase(SynchronousTestCase):
    """A queue in memory whose rules can be changed."""

    slots = 20

    def setUp(self) -> None:
        self.queue = Queue()
        self.store = CountingStore(self.queue.files, self.queue.paths, self.queue._replicate, self.queue.renames.append)
        self.queue.store = self.store
        self.rules: dict[str, FilterRule] = {}
        run_now(self.store.load())
        self.begin(self.queue.launcher)

    def begin(self, launcher: FakeLauncher) -> None:
        """A luxid over what is there."""
        self.launcher = launcher
        changes = JobChanges(self.queue.clock, self.store.get)
        self.scheduler = Scheduler(
            self.store,
            changes,
            launcher,
            self.queue.clock.seconds,
            lambda: self.slots,
            tracked_limit=lambda: 25,
            look_for_dead=self.queue.look_for_dead,
            rules=lambda: self.rules,
        )
        run_now(self.scheduler.resume())

    def set_rules(self, *rules: FilterRule) -> None:
        """Have these rules in the configuration, and let the queue hear of it."""
        self.rules = {each.uuid: each for each in rules}
        self.scheduler.wake()

    def submit(self, *jobs: Sequence[OpCode]) -> list[int]:
        """Submit jobs; their ids."""
        return self.successResultOf(Deferred.fromCoroutine(self.scheduler.submit(jobs)))

    def started(self) -> list[int]:
        """The jobs that were handed to runners, in that order."""
        return [runner.job.id for runner in self.launcher.runners if runner.job is not None]

    def end(self, job_id: int, status: Status = Status.SUCCESS) -> None:
        """Let a running job end."""
        for runner in self.launcher.runners:
            if runner.job is not None and runner.job.id == job_id:
                self.queue.finish(runner, status)

    def on_disk(self, job_id: int) -> QueuedJob:
        """A job's file."""
        return self.queue.on_disk(job_id)


def by_reason(uuid: str, action: FilterAction, text: str = PAUSED, priority: int = 0) -> FilterRule:
    """A rule about jobs with a reason."""
    return rule(uuid, action, ("reason", ["==", "reason", text]), priority=priority)


class PauseTests(GateCase):
    """Jobs that wait until the rules change."""

    def test_pause(self) -> None:
        """A paused job stays queued; others, also less urgent ones behind it, are not held up."""
        self.set_rules(by_reason("p", "PAUSE"))
        self.submit(delay(PAUSED, priority=-10), delay(priority=10))
        self.assertEqual(self.started(), [2])
        self.assertEqual(self.on_disk(1).status, Status.QUEUED)
        self.end(2)
        self.assertEqual(self.started(), [2])

    def test_no_longer(self) -> None:
        """When the rule is gone, or another comes before it, the job starts; the most urgent first."""
        self.set_rules(by_reason("p", "PAUSE", priority=1))
        self.submit(delay(PAUSED), delay(PAUSED, priority=-10))
        self.assertEqual(self.started(), [])
        self.set_rules(by_reason("a", "ACCEPT"), by_reason("p", "PAUSE", priority=1))
        self.assertEqual(self.started(), [2, 1])

    def test_running(self) -> None:
        """What runs already goes on."""
        self.submit(delay(PAUSED))
        self.set_rules(by_reason("p", "PAUSE"))
        self.assertFalse(self.launcher.runners[0].canceled)
        self.end(1)
        self.assertEqual(self.on_disk(1).status, Status.SUCCESS)

    def test_watermark(self) -> None:
        """A rule about all newer jobs pauses those alone."""
        self.slots = 0
        self.submit(delay(), delay())
        self.set_rules(rule("n", "PAUSE", ("jobid", [">", "id", "watermark"]), watermark=2))
        self.slots = 20
        self.submit(delay())
        self.assertEqual(self.started(), [1, 2])

    def test_priority_changed(self) -> None:
        """A job that is given another priority is measured against the rules again."""
        self.set_rules(rule("p", "PAUSE", ("priority", [">=", "priority", 0])))
        self.submit(delay())
        self.assertEqual(self.started(), [])
        self.successResultOf(Deferred.fromCoroutine(self.scheduler.change_priority(1, -10)))
        self.assertEqual(self.started(), [1])

    def test_cancel(self) -> None:
        """A paused job can be cancelled, and stays so when the rules change."""
        self.set_rules(by_reason("p", "PAUSE"))
        self.submit(delay(PAUSED))
        self.successResultOf(Deferred.fromCoroutine(self.scheduler.cancel(1, kill=False)))
        self.set_rules()
        self.assertEqual(self.on_disk(1).status, Status.CANCELED)
        self.assertEqual(self.started(), [])

    def test_dependent(self) -> None:
        """A job that depends on a paused one waits with it."""
        self.set_rules(by_reason("p", "PAUSE"))
        dependent = OpTestDelay(duration=0.0, depends=((-1, (FinalStatus.SUCCESS,)),))
        self.submit(delay(PAUSED), [dependent])
        self.set_rules()
        self.assertEqual(self.started(), [1])
        self.end(1)
        self.assertEqual(self.started(), [1, 2])

    def test_restart(self) -> None:
        """After a restart the rules hold as before."""
        self.set_rules(by_reason("p", "PAUSE"))
        self.submit(delay(PAUSED))
        self.begin(FakeLauncher())
        self.assertEqual(self.started(), [])
        self.set_rules()
        self.assertEqual(self.started(), [1])

    def test_paused_jobs_cost_nothing(self) -> None:
        """Of many paused jobs none is looked at when another one comes, starts and ends."""
        self.set_rules(by_reason("p", "PAUSE"))
        many = 20_000
        self.submit(*[delay(PAUSED)] * many)
        self.assertEqual(self.started(), [])
        before = self.store.looks
        self.submit(delay())
        self.end(many + 1)
        self.scheduler.wake()
        self.assertEqual(self.started(), [many + 1])
        self.assertLess(self.store.looks - before, 20)


class RejectTests(GateCase):
    """Jobs that are ended."""

    def test_reject(self) -> None:
        """A new job is cancelled; its result is a text that names the rule."""
        self.set_rules(by_reason("r-1", "REJECT"))
        self.submit(delay(PAUSED), delay())
        self.assertEqual(self.started(), [2])
        rejected = self.on_disk(1)
        self.assertEqual(rejected.status, Status.CANCELED)
        self.assertEqual(rejected.ops[0].result, "job 1 was rejected by filter rule r-1")
        self.assertIsNotNone(rejected.end_timestamp)

    def test_all_slots_taken(self) -> None:
        """Rejection waits for no slot, neither of new jobs nor of those in the queue, nor for other jobs."""
        self.slots = 1
        dependent = OpTestDelay(
            duration=0.0, reason=(("gnt:user", PAUSED, 1),), depends=((-2, (FinalStatus.SUCCESS,)),)
        )
        self.submit(delay(), delay(PAUSED), [dependent])
        self.set_rules(by_reason("r", "REJECT"))
        self.submit(delay(PAUSED))
        self.assertEqual([self.on_disk(job_id).status for job_id in (2, 3, 4)], [Status.CANCELED] * 3)
        self.assertEqual(self.started(), [1])

    def test_running(self) -> None:
        """What runs already goes on."""
        self.submit(delay(PAUSED))
        self.set_rules(by_reason("r", "REJECT"))
        self.assertFalse(self.launcher.runners[0].canceled)

    def test_paused_before(self) -> None:
        """A paused job is rejected when the rule changes so."""
        self.set_rules(by_reason("r", "PAUSE"))
        self.submit(delay(PAUSED))
        self.set_rules(by_reason("r", "REJECT"))
        self.assertEqual(self.on_disk(1).status, Status.CANCELED)


class RateTests(GateCase):
    """Jobs that wait for room."""

    def test_rule(self) -> None:
        """So many run at a time; when one ends, however it does, the next starts."""
        self.set_rules(by_reason("l", ("RATE_LIMIT", 2)))
        self.submit(*[delay(PAUSED)] * 4, delay())
        self.assertEqual(self.started(), [1, 2, 5])
        self.end(2, Status.ERROR)
        self.assertEqual(self.started(), [1, 2, 5, 3])
        self.end(1)
        self.assertEqual(self.started(), [1, 2, 5, 3, 4])

    def test_reason(self) -> None:
        """Without a rule, the jobs with the very same reason are limited by it."""
        text, other = "rate-limit:1:backup", "rate-limit:1:move"
        self.submit(delay(text), delay(text), delay(other), delay("rate-limit:0:backup"), delay(text, other))
        self.assertEqual(self.started(), [1, 3, 4])
        self.end(1)
        self.end(2)
        self.assertEqual(self.started(), [1, 3, 4, 2])
        self.end(3)
        self.assertEqual(self.started(), [1, 3, 4, 2, 5])

    def test_running_before_the_rule(self) -> None:
        """Jobs that ran already when the rule came take room."""
        self.submit(delay(PAUSED), delay(PAUSED))
        self.set_rules(by_reason("l", ("RATE_LIMIT", 1)))
        self.submit(delay(PAUSED))
        self.end(1)
        self.assertEqual(self.started(), [1, 2])
        self.end(2)
        self.assertEqual(self.started(), [1, 2, 3])

    def test_raised(self) -> None:
        """A higher limit lets more start at once."""
        self.set_rules(by_reason("l", ("RATE_LIMIT", 1)))
        self.submit(*[delay(PAUSED)] * 4)
        self.set_rules(by_reason("l", ("RATE_LIMIT", 3)))
        self.assertEqual(self.started(), [1, 2, 3])

    def test_between_opcodes(self) -> None:
        """A job that has gone back to the queue takes no room until it starts again; a rule that rejects does not end it."""
        self.slots = 1
        self.set_rules(by_reason("l", ("RATE_LIMIT", 1)))
        (op,) = delay(PAUSED)
        self.submit([op, op], delay(PAUSED))
        self.queue.step_back(self.launcher.runners[0], done=1)
        self.assertEqual(self.started(), [1, 2])
        self.set_rules(by_reason("r", "REJECT"))
        self.end(2)
        self.assertEqual(self.started(), [1, 2, 1])

    def test_cancel_of_who_is_next(self) -> None:
        """When the job that would be next is cancelled, the one behind it starts."""
        self.slots = 2
        self.set_rules(by_reason("l", ("RATE_LIMIT", 1)))
        self.submit(delay(PAUSED), delay(PAUSED), delay(PAUSED), delay())
        self.slots = 1
        self.end(1)
        self.successResultOf(Deferred.fromCoroutine(self.scheduler.cancel(2, kill=False)))
        self.end(4)
        self.assertEqual(self.started(), [1, 4, 3])

    def test_restart(self) -> None:
        """After a restart of luxid the jobs that still run take their room."""
        self.set_rules(by_reason("l", ("RATE_LIMIT", 1)))
        self.submit(delay(PAUSED), delay(PAUSED))
        living = FakeLauncher(living={self.launcher.runners[0].livelock})
        self.begin(living)
        self.assertEqual(self.started(), [1])
        self.end(1)
        self.assertEqual(self.started(), [1, 2])

    def test_limited_jobs_cost_nothing(self) -> None:
        """Of many that wait for the same room one is looked at when a job ends."""
        self.set_rules(by_reason("l", ("RATE_LIMIT", 1)))
        self.submit(*[delay(PAUSED)] * 5000)
        before = self.store.looks
        self.end(1)
        self.assertEqual(self.started(), [1, 2])
        self.assertLess(self.store.looks - before, 20)
