"""The undos of an opcode in its job's file."""

import errno
from pathlib import Path

from msgspec import UNSET
from twisted.internet.defer import Deferred

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.jobs.execute import JobRun
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import BGL, Mode
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.undos import in_config
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.undo import UndoRecord
from ganeti_tx.queue.job import Status, handed_to_undo
from ganeti_tx.rpc.calls.hooks import HooksRunner
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.jobs.case import NODE, OWNER, PATH, RIVAL, JobRunCase, Unit, Work

UNTAG = in_config("remove the tag one", IConfig.change_tags, TagKind.CLUSTER, None, [], ["one"])
STEP = [PlannedStep("tag", (), ("cluster",))]


class UndoFileTests(JobRunCase):
    """What stands there, and when."""

    def begin(self, then: "Deferred[None]") -> Work:
        """Work that tags the cluster in a step, and goes on when it is told to."""

        async def work(unit: Unit) -> None:
            async with unit.step("tag", UNTAG):
                await unit.config.change_tags(TagKind.CLUSTER, None, ["one"], [])
                await then

        return lambda unit: Deferred.fromCoroutine(work(unit))

    def running(self, then: "Deferred[None]") -> "tuple[JobRun, Deferred[None]]":
        """A job in the midst of its step."""
        run = self.job(self.begin(then), steps=STEP)
        nodes = FakeNodeRpc()
        nodes.answer(HooksRunner, [])
        run.nodes = nodes
        return run, Deferred.fromCoroutine(run.run())

    def record(self) -> UndoRecord:
        """What the file says."""
        found = self.on_disk().interrupted
        assert found is not None
        return found[1]

    def test_before_the_step(self) -> None:
        """The undo is in the file, with the locks, while the step is under way; when the job has ended it is gone."""
        then: Deferred[None] = Deferred()
        _, over = self.running(then)
        self.assertEqual(self.record().steps, [UNTAG])
        self.assertEqual(self.record().locks, {str(BGL): "shared", str(NODE): "exclusive"})
        then.callback(None)
        self.successResultOf(over)
        self.assertIs(self.on_disk().ops[0].undo, UNSET)
        self.assertEqual(self.on_disk().status, Status.SUCCESS)

    def test_candidates_have_it_first(self) -> None:
        """The step begins when the candidates have the undo; the locks are released when they know that it is over."""
        copies: list[Deferred[None]] = []

        async def replicate(files: dict[str, bytes]) -> None:
            copies.append(Deferred())
            await copies[-1]

        self.replicate = replicate  # type: ignore[method-assign]
        then: Deferred[None] = Deferred()
        _, over = self.running(then)
        self.assertNotIn("one", self.store.snapshot.cluster.tags)
        for copy in list(copies):
            copy.callback(None)
        self.assertIn("one", self.store.snapshot.cluster.tags)
        then.callback(None)
        self.assertIn(NODE, self.table.held(OWNER))
        while (waiting := [copy for copy in copies if not copy.called]) or not over.called:
            for copy in waiting:
                copy.callback(None)
            self.clock.advance(1)
        self.assertEqual(self.table.held(OWNER), {})

    def test_full_disk(self) -> None:
        """A step whose undo cannot be written down is not begun, and the job says why."""
        run = self.job(self.begin(Deferred()), steps=STEP)

        def full(operation: str, path: Path) -> OSError | None:
            refuses = path == PATH and isinstance(run.journal.op(0).undo, UndoRecord)
            return OSError(errno.ENOSPC, "No space left on device", str(path)) if refuses else None

        self.files.fault = full
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertIn("a step was not begun: what takes it back cannot be written down", self.error(0))
        self.assertNotIn("one", self.store.snapshot.cluster.tags)


class RecoveryTests(JobRunCase):
    """A fresh process with a job whose process died."""

    def interrupted(self, tries: int = 0) -> JobRun:
        """A job that had tagged the cluster."""
        run = self.job(lambda unit: self.fail("it must not run again"), lambda unit: self.fail("nor the next"))
        self.successResultOf(Deferred.fromCoroutine(run.config.change_tags(TagKind.CLUSTER, None, ["one"], [])))
        record = UndoRecord(steps=[UNTAG], locks={str(BGL): "shared", str(NODE): "exclusive"}, tries=tries)
        run.journal.change_op(0, status=Status.RUNNING, undo=record)
        run.journal.job = handed_to_undo(run.journal.job, OWNER.livelock, 2, "its process died", False)
        return run

    def test_taken_back(self) -> None:
        """It is, the opcodes after it do not run, and nothing is held."""
        run = self.interrupted()
        self.successResultOf(Deferred.fromCoroutine(run.run()))
        self.assertNotIn("one", self.store.snapshot.cluster.tags)
        self.assertEqual(self.error(0), "its process died; taken back: remove the tag one")
        self.assertIn("preceding opcode failed", self.error(1))
        self.assertIs(self.on_disk().ops[0].undo, UNSET)
        self.assertEqual(self.table.held(OWNER), {})

    def test_locks_are_waited_for(self) -> None:
        """Locks that nobody has kept are taken as the file names them; until then nothing is done."""
        self.rival_holds()
        run = self.interrupted()
        over = Deferred.fromCoroutine(run.run())
        self.assertIn("one", self.store.snapshot.cluster.tags)
        self.table.release_all(RIVAL)
        self.successResultOf(over)
        self.assertNotIn("one", self.store.snapshot.cluster.tags)

    def test_locks_never_come(self) -> None:
        """Without them nothing is touched, and the job says so when its time is over."""
        self.rival_holds()
        over = Deferred.fromCoroutine(self.interrupted().run())
        self.clock.advance(1000)
        self.successResultOf(over)
        self.assertIn("one", self.store.snapshot.cluster.tags)
        self.assertIn("could not be taken back, see the job's log: remove the tag one; its locks", self.error(0))

    def test_locks_of_the_dead(self) -> None:
        """What the dead process held is taken over, though another waits for it."""
        dead = type(OWNER)(OWNER.job_id, "/livelocks/job_0")
        self.successResultOf(
            self.table.update(dead, [LockRequest(BGL, Mode.SHARED), LockRequest(NODE, Mode.EXCLUSIVE)])
        )
        waiting = self.table.update(RIVAL, [LockRequest(BGL, Mode.SHARED), LockRequest(NODE, Mode.EXCLUSIVE)])
        self.successResultOf(Deferred.fromCoroutine(self.interrupted().run()))
        self.successResultOf(waiting)
        self.assertNotIn("one", self.store.snapshot.cluster.tags)
