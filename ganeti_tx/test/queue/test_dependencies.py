"""Dependencies at submission."""

import sys
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GanetiError, GenericError
from ganeti_tx.model.opcodes import OpTestDelay
from ganeti_tx.model.opcodes.types import FinalStatus
from ganeti_tx.queue.dependencies import settle

LAST, PURGED = 10, 4


def job(*others: int) -> list[Any]:
    """A job that depends on others."""
    depends = tuple((other, (FinalStatus.SUCCESS,)) for other in others)
    return [OpTestDelay(duration=0.0, depends=depends or None)]


class SettleTests(SynchronousTestCase):
    """Which dependencies are taken, and as which ids."""

    def settle(self, *jobs: Any) -> list[Any]:
        """For each job the ids that it depends on, or why it is refused."""
        settled = settle(jobs, LAST, lambda job_id: job_id != PURGED)
        return [str(ops) if isinstance(ops, GanetiError) else [o for o, _ in ops[0].depends or ()] for ops in settled]

    def test_earlier(self) -> None:
        """A job can depend on any earlier one that is known, be it archived."""
        self.assertEqual(self.settle(job(3), job(LAST)), [[3], [LAST]])

    def test_relative(self) -> None:
        """-1 is the job before it in the submission; what is before the first is the last job of the queue."""
        self.assertEqual(self.settle(job(-1), job(-1, -2), job(-2)), [[LAST], [-1, LAST], [-2]])

    def test_refused_ones_are_not_counted(self) -> None:
        """When a job between was refused, the relative id still means the same job."""
        no = GenericError("no")
        self.assertEqual(self.settle(job(), no, no, job(-3)), [[], "no", "no", [-1]])

    def test_on_a_refused_one(self) -> None:
        """Who depends on a job that was refused is refused, too, and so on."""
        _, second, third, fourth = self.settle(GenericError("no"), job(-1), job(-1), job())
        self.assertIn("job -1 of this submission, which was refused", second)
        self.assertIn("which was refused", third)
        self.assertEqual(fourth, [])

    def test_refused(self) -> None:
        """Itself, a later job, one that is gone and one before all others cannot be waited for; the text says which."""
        itself, later, gone, before_all = self.settle(job(0), job(LAST + 1), job(PURGED), job(-40))
        self.assertIn("itself", itself)
        self.assertIn("job 11, which is not there yet", later)
        self.assertIn("job 4: it is neither in the queue nor in its archive", gone)
        self.assertIn("job -40", before_all)

    def test_many(self) -> None:
        """The work for each dependency is the same however many jobs come before it: a client chooses both numbers."""
        for size in (10, 1000):
            before = [job() for _ in range(size)]
            self.assertLess(calls([*before, job(*[-size] * 100)]) - calls(before), 1000)


def calls(jobs: list[Any]) -> int:
    """How many calls of functions the work takes."""
    seen: list[str] = []

    def note(frame: object, event: str, argument: object) -> None:
        seen.append(event)

    sys.setprofile(note)
    try:
        settle(jobs, LAST, lambda job_id: True)
    finally:
        sys.setprofile(None)
    return len(seen)
