"""Clients that hang up before they have their answer: what they asked for is done, or not, but never half."""

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.registry import UNITS
from ganeti_tx.luxid.dispatch import LuxiDispatch
from ganeti_tx.luxid.job_methods import JobMethods
from ganeti_tx.luxid.job_rows import JobRows
from ganeti_tx.model.opcodes import Disclosure, OpTestDelay, encode
from ganeti_tx.queue.archiving import Archiving
from ganeti_tx.queue.files.drain import DrainFlag
from ganeti_tx.queue.job import Status
from ganeti_tx.test.queue.test_scheduler import Queue, run_now

DELAY = encode(OpTestDelay(duration=0.0), Disclosure.WIRE)


class SlowCopiesTests(SynchronousTestCase):
    """A candidate is slow to take its copies; the client does not wait for it."""

    def setUp(self) -> None:
        self.queue = queue = Queue()
        run_now(queue.store.load())
        self.copied: Deferred[None] = Deferred()
        self.told: list[bool] = []
        queue.store.replicate = lambda files: self.copied
        methods = JobMethods(
            queue.scheduler,
            queue.store,
            JobRows(queue.store),
            queue.changes,
            DrainFlag(queue.files, queue.paths, self.tell),
            queue.clock,
            Archiving(queue.store, queue.clock, queue.clock.seconds, queue.scheduler.is_followed),
            UNITS,
        )
        self.dispatch = LuxiDispatch(methods.table())

    async def tell(self, drained: bool) -> None:
        """The candidates hear of the drain flag."""
        await self.copied
        self.told.append(drained)

    def hang_up(self, method: str, *args: Any) -> None:
        """Ask, and do not wait for the answer; then the copies are made."""
        asked = Deferred.fromCoroutine(self.dispatch(method, list(args), None))
        asked.cancel()
        self.failureResultOf(asked, CancelledError)
        copied, self.copied = self.copied, Deferred()
        copied.callback(None)

    def test_submission(self) -> None:
        """A job that is on disk is started, whether its client waits or not."""
        self.hang_up("SubmitJob", [DELAY])
        self.copied.callback(None)
        self.assertEqual(self.queue.started(), [1])

    def test_cancel(self) -> None:
        """A job that is being canceled is canceled, and its place is free."""
        self.queue.limit = 0
        self.hang_up("SubmitJob", [DELAY])
        self.hang_up("CancelJob", 1)
        self.assertEqual(self.queue.on_disk(1).status, Status.CANCELED)
        self.assertFalse(self.queue.scheduler.is_followed(1))

    def test_drain_flag(self) -> None:
        """The candidates are told of it."""
        self.hang_up("SetDrainFlag", True)
        self.assertEqual(self.told, [True])

    def test_waiting(self) -> None:
        """Who waits for a job is forgotten at once."""
        self.queue.limit = 0
        self.hang_up("SubmitJob", [DELAY])
        self.hang_up("WaitForJobChange", 1, ["status"], ["queued"], None, 30)
        self.assertEqual(self.queue.clock.getDelayedCalls(), [])
