"""Who runs and who is set aside, against a naive queue that looks at every job each time."""

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test
from hypothesis.stateful import rule as step
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.filter_rule import FilterAction, FilterRule
from ganeti_tx.queue.filters.admission import Admission
from ganeti_tx.queue.filters.rule_book import Action, read_rules
from ganeti_tx.queue.job import QueuedJob
from ganeti_tx.test.queue.filters.rules import job, op, rule

KINDS = ("OP_A", "OP_B", "OP_C")
REASONS = ("rate-limit:1:x", "rate-limit:2:y", "why not")
ACTIONS = st.sampled_from(["ACCEPT", "PAUSE", "REJECT", "CONTINUE", ("RATE_LIMIT", 1), ("RATE_LIMIT", 2)])
SLOTS = 4


class Walk(RuleBasedStateMachine):
    """A queue with few slots. `ready` are those who may have their turn; `queued` all that wait."""

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[str, FilterRule] = {}
        self.admission = Admission(lambda: self.made)
        self.queued: dict[int, QueuedJob] = {}
        self.ready: set[int] = set()
        self.running: dict[int, QueuedJob] = {}
        self.number = 0

    @step(kind=st.sampled_from(KINDS), reason=st.sampled_from(REASONS), priority=st.integers(-1, 1))
    def submit(self, kind: str, reason: str, priority: int) -> None:
        """A new job."""
        self.number += 1
        self.queued[self.number] = job(self.number, op(kind, reason, priority=priority))
        self.ready.add(self.number)
        self.wake()

    @step(kind=st.sampled_from(KINDS), action=ACTIONS, priority=st.integers(0, 2))
    def set_rule(self, kind: str, action: FilterAction, priority: int) -> None:
        """Another rule, or another in its place."""
        predicate = ("opcode", ["==", "OP_ID", kind])
        self.made = self.made | {kind: rule(kind, action, predicate, priority=priority)}
        self.wake()

    @step(kind=st.sampled_from(KINDS))
    def delete_rule(self, kind: str) -> None:
        """One less."""
        self.made = {uuid: each for uuid, each in self.made.items() if uuid != kind}
        self.wake()

    @step(pick=st.integers(0, 99))
    def end(self, pick: int) -> None:
        """A running job ends."""
        if self.running:
            job_id = list(self.running)[pick % len(self.running)]
            del self.running[job_id]
            self.admission.over(job_id)
            self.wake()

    @step(pick=st.integers(0, 99))
    def cancel(self, pick: int) -> None:
        """A queued job is cancelled."""
        if self.queued:
            job_id = list(self.queued)[pick % len(self.queued)]
            del self.queued[job_id]
            self.ready.discard(job_id)
            self.admission.over(job_id)
            self.wake()

    @step(pick=st.integers(0, 99), priority=st.integers(-1, 1))
    def change_priority(self, pick: int, priority: int) -> None:
        """A queued job gets another priority and is looked at again."""
        if self.queued:
            job_id = list(self.queued)[pick % len(self.queued)]
            old = self.queued[job_id].ops[0].input
            self.queued[job_id] = job(
                job_id, op(old["OP_ID"], *[entry[1] for entry in old["reason"]], priority=priority)
            )
            self.ready.add(job_id)
            self.wake()

    def wake(self) -> None:
        """As the scheduler does it."""
        self.admission.renew()
        while len(self.running) < SLOTS:
            self.ready.update(job_id for job_id in self.admission.called() if job_id in self.queued)
            if not self.ready:
                break
            job_id = min(self.ready, key=lambda each: (self.queued[each].priority, each))
            self.ready.discard(job_id)
            decision = self.admission.ask(self.queued[job_id])
            if decision is None:
                continue
            ended = self.queued.pop(job_id)
            if decision.action is Action.REJECT:
                self.admission.over(job_id)
            else:
                self.check_room(ended)
                self.admission.runs(ended)
                self.running[job_id] = ended

    def check_room(self, starting: QueuedJob) -> None:
        """A job starts only when all of its limits have room."""
        assert self.may_start(starting), starting

    def may_start(self, wanted: QueuedJob) -> bool:
        """By the naive way."""
        book = read_rules(self.made.values())
        taken = Counter(limit.key for each in self.running.values() for limit in book.decide(each).limits)
        decision = book.decide(wanted)
        return decision.action is not Action.PAUSE and all(taken[each.key] < each.most for each in decision.limits)

    @invariant()
    def nobody_is_forgotten(self) -> None:
        """While there is a free slot, nobody who may start waits, and nobody waits who is rejected."""
        if len(self.running) < SLOTS:
            assert not [job_id for job_id, each in self.queued.items() if self.may_start(each)]

    @invariant()
    def nothing_is_left(self) -> None:
        """Nothing is kept of jobs that are gone."""
        known = {*self.admission._paused, *self.admission._waiting, *self.admission._called_for}
        assert known <= set(self.queued)
        assert set(self.admission._running) == set(self.running)


class WalkTests(SynchronousTestCase):
    """Random walks."""

    def test_walk(self) -> None:
        """As the naive queue would do it, whatever happens."""
        steps = settings(max_examples=80, stateful_step_count=40, deadline=None)
        run_state_machine_as_test(Walk, settings=steps)


class CostTests(SynchronousTestCase):
    """Who is set aside costs nothing."""

    def setUp(self) -> None:
        self.rules: dict[str, FilterRule] = {}
        self.admission = Admission(lambda: self.rules)

    def test_one_call_for_one_room(self) -> None:
        """Of many that wait for room, one is called when one job ends, the most urgent first."""
        self.rules = {"a": rule("a", ("RATE_LIMIT", 1))}
        self.admission.renew()
        self.assertIsNotNone(self.admission.ask(job(1)))
        self.admission.runs(job(1))
        for job_id in range(2, 1000):
            self.assertIsNone(self.admission.ask(job(job_id, op(priority=-10 if job_id == 700 else 0))))
        self.admission.over(1)
        self.assertEqual(self.admission.called(), [700])
        self.admission.over(700)  # it was cancelled before its turn
        self.assertEqual(self.admission.called(), [2])

    def test_room_that_is_not_taken(self) -> None:
        """Who is called for one room and then finds another full lets the next have the first."""
        self.rules = {"a": rule("a", ("RATE_LIMIT", 1), ("opcode", ["==", "OP_ID", "OP_A"]))}
        self.admission.renew()
        self.admission.runs(job(1, op("OP_A")))
        both = job(2, op("OP_A", "rate-limit:1:y"))
        for waiting in (both, job(3, op("OP_A"))):
            self.assertIsNone(self.admission.ask(waiting))
        self.admission.runs(job(4, op("OP_B", "rate-limit:1:y")))
        self.admission.over(1)
        self.assertEqual(self.admission.called(), [2])
        self.assertIsNone(self.admission.ask(both))
        self.assertEqual(self.admission.called(), [3])

    def test_only_asked(self) -> None:
        """Who may start but does not takes no room, and stays called."""
        self.rules = {"a": rule("a", ("RATE_LIMIT", 1))}
        self.admission.renew()
        for _ in range(3):
            self.assertIsNotNone(self.admission.ask(job(1)))
        self.assertIsNotNone(self.admission.ask(job(2)))

    def test_same_rules(self) -> None:
        """Rules that are read anew but are the same are no change."""
        self.rules = {"a": rule("a", "PAUSE")}
        self.assertTrue(self.admission.renew())
        self.admission.ask(job(1))
        self.rules = {"a": rule("a", "PAUSE")}
        self.assertFalse(self.admission.renew())
        self.assertEqual(self.admission.called(), [])

    def test_running_before(self) -> None:
        """A job that runs already takes room, also when there is none left."""
        self.rules = {"a": rule("a", ("RATE_LIMIT", 1))}
        self.admission.renew()
        self.admission.runs(job(1))
        self.admission.runs(job(2))
        self.assertIsNone(self.admission.ask(job(3)))
        self.admission.over(1)
        self.assertEqual(self.admission.called(), [])
        self.admission.over(2)
        self.assertEqual(self.admission.called(), [3])
