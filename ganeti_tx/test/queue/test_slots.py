"""Jobs that give their slots to others and come back."""

import msgspec
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.opcodes import OpTestDelay, OpTestOsParams, Secret
from ganeti_tx.model.opcodes.types import FinalStatus
from ganeti_tx.queue.job import Status
from ganeti_tx.queue.launcher import NeverGiven, RunnerDied
from ganeti_tx.test.queue.test_scheduler import Queue, run_now


class SlotTests(SynchronousTestCase):
    """Jobs that give their slots to others (design-2.3, Job priorities)."""

    def queue_with(self, limit: int, *priorities: int, ops: int = 1) -> Queue:
        """A queue with jobs 1, 2, ... of these priorities."""
        queue = Queue(limit=limit)
        run_now(queue.store.load())
        run_now(queue.scheduler.submit([[OpTestDelay(duration=0.0, priority=each)] * ops for each in priorities]))  # type: ignore[arg-type]
        return queue

    def test_nobody_waits(self) -> None:
        """A job keeps its slot when nobody waits for one."""
        queue = self.queue_with(1, 0)
        self.assertTrue(queue.launcher.may_go_on(1, 0))

    def test_who_makes_it_step_back(self) -> None:
        """A job gives its slot to those that are as urgent or more, not to the less urgent."""
        for waiting, goes_on in ((-10, False), (0, False), (10, True)):
            queue = self.queue_with(1, 0)
            run_now(queue.scheduler.submit([[OpTestDelay(duration=0.0, priority=waiting)]]))  # type: ignore[arg-type]
            self.assertEqual(queue.launcher.may_go_on(1, 0), goes_on, waiting)

    def test_blocked_wants_no_slot(self) -> None:
        """A job that could not start anyhow makes nobody step back."""
        queue = self.queue_with(1, 0)
        run_now(queue.scheduler.submit([[OpTestDelay(duration=0.0, depends=((1, (FinalStatus.SUCCESS,)),))]]))
        self.assertTrue(queue.launcher.may_go_on(1, 0))
        queue.finish(queue.launcher.runners[0])
        self.assertEqual(queue.started(), [1, 2])

    def test_free_slot(self) -> None:
        """While there are free slots nobody steps back; the limit counts as it is now."""
        queue = self.queue_with(1, 0, 0)
        self.assertFalse(queue.launcher.may_go_on(1, 0))
        queue.limit = 2
        self.assertTrue(queue.launcher.may_go_on(1, 0))

    def test_equals_take_turns(self) -> None:
        """Jobs of several opcodes go round and round, one opcode each."""
        queue = self.queue_with(1, 0, 0, 0, ops=2)
        for number in range(3):
            queue.step_back(queue.launcher.runners[number], done=1)
        for number in range(3, 6):
            queue.finish(queue.launcher.runners[number])
        self.assertEqual(queue.started(), [1, 2, 3, 1, 2, 3])
        self.assertEqual([queue.on_disk(each).status for each in (1, 2, 3)], [Status.SUCCESS] * 3)

    def test_slot_goes_to_who_waited(self) -> None:
        """A job whose priority rose by its failed try lets the other one in all the same, and is next after it."""
        queue = self.queue_with(1, 0, 0, 0)
        self.assertFalse(queue.launcher.may_go_on(1, 0))
        queue.step_back(queue.launcher.runners[0], priority=-1)
        self.assertEqual(queue.started(), [1, 2])
        queue.finish(queue.launcher.runners[1])
        self.assertEqual(queue.started(), [1, 2, 1])

    def test_handed_over_again(self) -> None:
        """The next runner finds its livelock in the file, the first open opcode waiting, and the first start of the job."""
        queue = self.queue_with(1, 0, ops=2)
        queue.step_back(queue.launcher.runners[0], done=1)
        job = queue.on_disk(1)
        self.assertEqual([op.status for op in job.ops], [Status.SUCCESS, Status.WAITING])
        self.assertEqual(job.livelock, queue.launcher.runners[1].livelock)
        self.assertEqual(job.start_timestamp, (1000, 0))

    def test_dependent_waits_on(self) -> None:
        """A job that went back to the queue has not ended: who waits for it waits on."""
        queue = self.queue_with(1, 0, ops=2)
        run_now(queue.scheduler.submit([[OpTestDelay(duration=0.0, depends=((1, (FinalStatus.SUCCESS,)),))]]))
        queue.step_back(queue.launcher.runners[0], done=1)
        self.assertEqual(queue.started(), [1, 1])

    def test_died_after_stepping_back(self) -> None:
        """When the process dies before it has told, the file counts: the job is queued."""
        queue = self.queue_with(1, 0)
        runner = queue.launcher.runners[0]
        over, runner.over = runner.over, Deferred()
        queue.step_back(runner)
        over.errback(RunnerDied("its livelock is free"))
        self.assertEqual(queue.started(), [1, 1])

    def test_canceled_on_the_way_back(self) -> None:
        """A job that was to stop, and went back to the queue at that moment, is canceled."""
        queue = self.queue_with(1, 0, 0)
        canceling = Deferred.fromCoroutine(queue.scheduler.cancel(1, kill=False))
        queue.step_back(queue.launcher.runners[0])
        self.assertTrue(self.successResultOf(canceling)[0])
        self.assertEqual(queue.on_disk(1).status, Status.CANCELED)
        self.assertEqual(queue.started(), [1, 2])

    def test_first_open_opcode(self) -> None:
        """A job is as urgent as the first of its opcodes that has not been done, whatever follows."""
        queue = Queue(limit=0)
        run_now(queue.store.load())
        ops = [OpTestDelay(duration=0.0, priority=10), OpTestDelay(duration=0.0, priority=-10)]
        run_now(queue.scheduler.submit([ops, ops[:1], [OpTestDelay(duration=0.0)]]))
        self.assertEqual([queue.on_disk(each).priority for each in (1, 2, 3)], [10, 10, 0])
        queue.limit = 1
        queue.scheduler.wake()
        self.assertEqual(queue.started(), [3])
        queue.finish(queue.launcher.runners[0])
        self.assertEqual(queue.started(), [3, 1])
        self.assertTrue(queue.launcher.may_go_on(1, -10))

    def test_priority_on_the_way_back(self) -> None:
        """A new priority that came too late for the process is written when the job is in the queue again."""
        queue = self.queue_with(1, 0, 0)
        run_now(queue.scheduler.change_priority(1, 10))
        queue.step_back(queue.launcher.runners[0], priority=-1)
        self.assertEqual(queue.on_disk(1).priority, 10)
        self.assertEqual(queue.started(), [1, 2])

    def test_left_by_an_earlier_luxid(self) -> None:
        """A new luxid takes a job that had gone back to the queue from its file: what is done is not done again."""
        old = self.queue_with(1, 0, ops=2)
        old.limit = 0
        old.step_back(old.launcher.runners[0], done=1)
        queue = Queue(old.files)
        run_now(queue.store.load())
        run_now(queue.scheduler.resume())
        self.assertEqual([op.status for op in queue.on_disk(1).ops], [Status.SUCCESS, Status.WAITING])

    def test_died_between_opcodes(self) -> None:
        """A job whose process died between two opcodes while there was no luxid goes on with the second."""
        old = self.queue_with(1, 0, ops=2)
        job = old.on_disk(1)
        ops = [
            msgspec.structs.replace(op, status=status)
            for op, status in zip(job.ops, (Status.SUCCESS, Status.QUEUED), strict=True)
        ]
        run_now(old.store.put(msgspec.structs.replace(job, ops=ops)))
        queue = Queue(old.files)
        run_now(queue.store.load())
        run_now(queue.scheduler.resume())
        self.assertEqual([op.status for op in queue.on_disk(1).ops], [Status.SUCCESS, Status.WAITING])

    def test_priority_before_a_death(self) -> None:
        """A priority that was promised for a job of an earlier luxid holds although its process dies before it hears of it."""
        old = self.queue_with(1, 0)
        queue = Queue(old.files)
        queue.launcher.living = {old.launcher.runners[0].livelock}
        run_now(queue.store.load())
        run_now(queue.scheduler.resume())
        self.assertEqual(run_now(queue.scheduler.change_priority(1, -10))[0], True)
        queue.launcher.runners[0].over.errback(RunnerDied("its livelock is free"))
        self.assertEqual(queue.started(), [1, 1])
        self.assertEqual(queue.on_disk(1).ops[0].priority, -10)

    def test_secrets_of_one_never_given(self) -> None:
        """A job whose process was gone before it was given the job gets another, with its secrets, which luxid still has."""
        queue = self.queue_with(1)
        op = OpTestOsParams(osparams_secret={"password": Secret("hunter2")})
        run_now(queue.scheduler.submit([[op]]))
        queue.launcher.runners[0].over.errback(NeverGiven("it was gone"))
        self.assertEqual(queue.started(), [1, 1])
        self.assertEqual(queue.launcher.runners[1].secrets, queue.launcher.runners[0].secrets)
