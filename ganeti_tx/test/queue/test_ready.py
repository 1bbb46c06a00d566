"""The order of the jobs that wait."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.queue.ready import ReadyQueue


class ReadyQueueTests(SynchronousTestCase):
    """ReadyQueue by itself."""

    def setUp(self) -> None:
        self.ready = ReadyQueue()

    def order(self) -> list[int]:
        """Everybody, the first first; then nobody waits."""
        found = []
        while (job_id := self.ready.first()) is not None:
            found.append(job_id)
            self.ready.leave(job_id)
        return found

    def join(self, *priorities: int) -> None:
        """Jobs 1, 2, ... with these priorities."""
        for job_id, priority in enumerate(priorities, 1):
            self.ready.join(job_id, priority)

    def test_urgent_first(self) -> None:
        """The lowest number is first, and equals go in the order in which they joined."""
        self.join(0, 10, -20, 0, 19)
        self.assertEqual(self.order(), [3, 1, 4, 2, 5])

    def test_joining_again(self) -> None:
        """A job that joins again stands behind those of its priority."""
        self.join(0, 0, 10)
        self.ready.leave(1)
        self.ready.join(1, 0)
        self.assertEqual(self.order(), [2, 1, 3])

    def test_first_stays(self) -> None:
        """To look who is first changes nothing."""
        self.join(0)
        self.assertEqual([self.ready.first(), self.ready.first()], [1, 1])

    def test_changed_priority(self) -> None:
        """A new priority moves a job; among its new equals its time of joining counts."""
        self.join(5, 0, 5, 0)
        self.ready.change_priority(1, 0)
        self.assertEqual(self.order(), [1, 2, 4, 3])

    def test_blocked(self) -> None:
        """Who waits for another job is not in line, and has his old place when that one is over."""
        self.join(0, 0, 0)
        self.ready.block(1, on=9)
        self.ready.change_priority(1, -5)
        self.assertIn(1, self.ready)
        self.assertEqual(self.ready.first(), 2)
        self.ready.unblock(9)
        self.assertEqual(self.order(), [1, 2, 3])

    def test_left_while_blocked(self) -> None:
        """Who has left is not called when the job that he waited for is over."""
        self.join(0, 0)
        self.ready.block(1, on=9)
        self.ready.leave(1)
        self.ready.unblock(9)
        self.assertEqual(self.order(), [2])
        self.assertNotIn(1, self.ready)
