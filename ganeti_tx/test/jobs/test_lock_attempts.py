"""How long attempts to get locks last and how they raise the priority."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.jobs.lock_attempts import after_failed_attempt, attempt_limit
from ganeti_tx.queue.job import QueuedJob, QueuedOp, with_priority


def opcode(priority: int, submitted: int = 0) -> QueuedOp:
    """An opcode that waits."""
    return QueuedOp(input={"OP_ID": "OP_TEST_DELAY", "priority": submitted}, priority=priority)


class AttemptLimitTests(SynchronousTestCase):
    """design-2.1, Locking improvements."""

    def test_doubles(self) -> None:
        """An attempt lasts 2**failed seconds, 64 at most; the failed ones are told by the priority."""
        spans = [attempt_limit(opcode(priority)) for priority in range(0, -9, -1)]
        self.assertEqual(spans, [1, 2, 4, 8, 16, 32, 64, 64, 64])

    def test_each_submitted_priority(self) -> None:
        """Whatever the submitted priority is, the first attempt lasts a second."""
        self.assertEqual([attempt_limit(opcode(each, each)) for each in (-10, 0, 10)], [1.0] * 3)

    def test_highest(self) -> None:
        """At -20 an opcode waits without limit (design-2.3, Job priorities)."""
        self.assertIsNone(attempt_limit(opcode(-20)))

    def test_without_parameter(self) -> None:
        """An opcode whose file has no priority parameter had the default."""
        self.assertEqual(attempt_limit(QueuedOp(input={}, priority=-2)), 4.0)

    def test_rises(self) -> None:
        """A failed attempt makes the number fall by one, not below -20."""
        self.assertEqual([after_failed_attempt(opcode(each)) for each in (19, 0, -19, -20)], [18, -1, -20, -20])

    def test_changed_priority_is_a_new_base(self) -> None:
        """From a priority that the user gave afterwards the attempts count anew."""
        for wanted in (10, 0, -10, 5, 19):
            (changed,) = with_priority(QueuedJob(id=1, ops=[opcode(-7)]), wanted).ops
            self.assertEqual((changed.priority, attempt_limit(changed)), (wanted, 1.0))
