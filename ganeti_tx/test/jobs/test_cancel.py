"""A job that is stopped: where, and what is told of it."""

from collections.abc import Awaitable, Callable
from typing import Any

from twisted.internet.defer import CancelledError, Deferred

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import (
    OpExecError,
)
from ganeti_tx.jobs.execute import JobRun
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.undos import in_config
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.undo import Undo
from ganeti_tx.queue.job import Status
from ganeti_tx.test.jobs.case import OWNER, RIVAL, JobRunCase, Unit, raise_it

#: Takes back that the cluster was tagged.
UNTAG = in_config("remove the tag one", IConfig.change_tags, TagKind.CLUSTER, None, [], ["one"])


class CancelTests(JobRunCase):
    """Stops at every kind of moment."""

    def test_cancel_while_waiting_for_locks(self) -> None:
        """A stop takes effect at once while the job waits for locks, and leaves the queue of waiters."""
        self.rival_holds()
        run = self.job(lambda unit: 1, lambda unit: 2)
        done = Deferred.fromCoroutine(run.run())
        self.assertNoResult(done)
        self.assertEqual(self.on_disk().ops[0].status, Status.WAITING)
        self.stop(run)
        self.successResultOf(done)
        self.assertEqual([op.status for op in self.on_disk().ops], [Status.CANCELED] * 2)
        self.table.release_all(RIVAL)
        self.assertEqual(self.table.held(OWNER), {})

    def test_cancel_while_running(self) -> None:
        """An opcode that runs is canceling until its work is done, which counts; the next one does not begin."""
        work: Deferred[int] = Deferred()
        run = self.job(lambda unit: work, lambda unit: 2)
        done = Deferred.fromCoroutine(run.run())
        self.stop(run)
        self.assertNoResult(done)
        self.assertEqual([op.status for op in self.on_disk().ops], [Status.CANCELING, Status.QUEUED])
        self.assertEqual(self.on_disk().status, Status.CANCELING)
        work.callback(1)
        self.successResultOf(done)
        self.assertEqual([op.status for op in self.on_disk().ops], [Status.SUCCESS, Status.CANCELED])

    def test_cancel_of_the_last_one(self) -> None:
        """A job whose last opcode does its work to the end although it should stop is a success."""
        work: Deferred[int] = Deferred()
        run = self.job(lambda unit: work)
        done = Deferred.fromCoroutine(run.run())
        self.stop(run)
        work.callback(1)
        self.successResultOf(done)
        self.assertEqual(self.on_disk().status, Status.SUCCESS)

    def test_cancel_in_a_wait(self) -> None:
        """A wait ends at once; the opcode's result and its log say where it stopped and that nothing had been done."""
        run = self.job(lambda unit: Deferred.fromCoroutine(unit.pause(100)))
        done = Deferred.fromCoroutine(run.run())
        self.stop(run)
        self.successResultOf(done)
        self.assertEqual(self.on_disk().status, Status.CANCELED)
        self.assertEqual(self.error(0), "the job was canceled before a wait; nothing had been done")
        self.assertEqual(self.last_word(), "Canceled before a wait; done until then: nothing")
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def tag(self, unit: Unit, word: str) -> "Deferred[None]":
        """Tag the cluster, or take that back."""
        add, remove = ([word], []) if word not in self.store.snapshot.cluster.tags else ([], [word])
        return Deferred.fromCoroutine(unit.config.change_tags(TagKind.CLUSTER, None, add, remove))

    def last_word(self) -> str:
        """The first opcode's last log entry."""
        return str(self.on_disk().ops[0].log[-1][3])

    def test_cancel_takes_back(self) -> None:
        """What had been done is taken back by the undo steps, which the stop does not disturb; result and log say so."""

        async def work(unit: Unit) -> None:
            async with unit.step("tag", UNTAG):
                await self.tag(unit, "one")
                self.stop(run)
                await self.tag(unit, "two")

        run = self.job(lambda unit: Deferred.fromCoroutine(work(unit)), steps=[PlannedStep("tag", (), ("cluster",))])
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertNotIn("one", self.store.snapshot.cluster.tags)
        self.assertEqual(self.on_disk().status, Status.CANCELED)
        self.assertIn("before change_tags in the configuration; what had been done was taken back", self.error(0))
        self.assertIn("done to take it back: change_tags in the configuration", self.last_word())

    def stopped_first(self, run: JobRun, take_back: Callable[[Undo], Awaitable[None]]) -> Any:
        """An undo in whose midst the job is to stop."""

        async def both(undo: Undo) -> None:
            self.stop(run)
            await take_back(undo)

        return both

    def test_cancel_leaves(self) -> None:
        """What had been done and has no undo is left; result and log say so."""

        async def work(unit: Unit) -> None:
            await self.tag(unit, "one")
            self.stop(run)
            await self.tag(unit, "two")

        run = self.job(lambda unit: Deferred.fromCoroutine(work(unit)))
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertIn("one", self.store.snapshot.cluster.tags)
        self.assertIn("nothing was taken back", self.error(0))
        self.assertIn("done until then: change_tags in the configuration; nothing was taken back", self.last_word())

    def test_cancel_while_it_fails(self) -> None:
        """An opcode that fails by itself, and is to stop while it takes back what it did, has failed."""

        async def work(unit: Unit) -> None:
            async with unit.step("tag", UNTAG):
                await self.tag(unit, "one")
                unit.context.steps.take_back = self.stopped_first(run, unit.context.steps.take_back)
                raise OpExecError("broken")

        run = self.job(lambda unit: Deferred.fromCoroutine(work(unit)), steps=[PlannedStep("tag", (), ("cluster",))])
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertEqual((self.error(0), self.on_disk().status), ("broken", Status.ERROR))
        self.assertNotIn("one", self.store.snapshot.cluster.tags)

    def test_cancel_that_became_another_error(self) -> None:
        """An opcode that was stopped is canceled, whatever error its unit made of that."""

        async def work(unit: Unit) -> None:
            self.stop(run)
            try:
                await self.tag(unit, "one")
            except CancelledError:
                raise OpExecError("could not") from None

        run = self.job(lambda unit: Deferred.fromCoroutine(work(unit)))
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertEqual(self.on_disk().status, Status.CANCELED)

    def test_cancel_without_a_file(self) -> None:
        """A stop that cannot be written stops the job all the same."""
        run = self.job(lambda unit: Deferred.fromCoroutine(unit.pause(100)))
        done = Deferred.fromCoroutine(run.run())
        faults = [OSError(28, "No space left")]
        self.files.fault = lambda operation, path: faults.pop() if faults else None
        self.failureResultOf(Deferred.fromCoroutine(run.stop()), OSError)
        self.successResultOf(done)
        self.assertEqual(self.on_disk().status, Status.CANCELED)

    def test_cancel_before_the_start(self) -> None:
        """A stop that comes first leaves nothing done."""
        run = self.job(lambda unit: 1)
        self.stop(run)
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertEqual(self.on_disk().ops[0].status, Status.CANCELED)

    def test_cancelled_by_nobody(self) -> None:
        """Something inside that was cut off is a fault, not the user's cancel."""
        job = self.run_job(raise_it(CancelledError()))
        self.assertEqual(job.ops[0].status, Status.ERROR)
        self.flushLoggedErrors(CancelledError)
