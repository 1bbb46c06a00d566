"""Clients that hang up before their answer has come."""

from collections.abc import Awaitable
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobQueueError
from ganeti_tx.luxid.dispatch import LuxiDispatch


class HangUpTests(SynchronousTestCase):
    """What reads is broken off; what changes something is brought to its end."""

    def setUp(self) -> None:
        self.disk: Deferred[int] = Deferred()
        self.enqueued: list[int] = []
        self.dispatch = LuxiDispatch({"SubmitJob": self.submit, "QueryJobs": self.submit})

    async def submit(self, ops: Any) -> int:
        """A change with two steps."""
        job_id = await self.disk
        self.enqueued.append(job_id)
        return job_id

    def hang_up(self, work: Awaitable[Any]) -> None:
        """A client asks, and is gone."""

        async def ask() -> Any:
            return await work

        asked = Deferred.fromCoroutine(ask())
        asked.cancel()
        self.failureResultOf(asked, CancelledError)

    def test_change(self) -> None:
        """A job that was stored is also queued, although its client has gone meanwhile."""
        self.hang_up(self.dispatch("SubmitJob", [[]], None))
        self.disk.callback(7)
        self.assertEqual(self.enqueued, [7])

    def test_change_fails(self) -> None:
        """A change that fails when nobody listens any more does no harm."""
        self.hang_up(self.dispatch("SubmitJob", [[]], None))
        self.disk.errback(JobQueueError("no room"))
        self.assertEqual((self.enqueued, self.flushLoggedErrors()), ([], []))

    def test_question(self) -> None:
        """A question that nobody waits for is not answered."""
        self.hang_up(self.dispatch("QueryJobs", [[]], None))
        self.assertTrue(self.disk.called)
        self.assertEqual(self.enqueued, [])

    def test_answer(self) -> None:
        """Who waits gets the answer, or the error."""

        async def ask() -> Any:
            return await self.dispatch("SubmitJob", [[]], None)

        asked = Deferred.fromCoroutine(ask())
        self.assertNoResult(asked)
        self.disk.callback(8)
        self.assertEqual(self.successResultOf(asked), 8)
