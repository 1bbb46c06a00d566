"""The campaign's own checks: it sees what is wrong, and nothing that is right."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status
from ganeti_tx.test.chaos.checks import check_jobs
from ganeti_tx.test.chaos.history import Operation, State, expected, operations
from ganeti_tx.test.chaos.load import CREATE, REMOVE, SHUTDOWN, STARTUP
from ganeti_tx.test.chaos.observer import RELEASE_LIMIT, Observations
from ganeti_tx.test.chaos.schedule import KILLS, Fault, plan


def operation(kind: str, succeeded: bool = True, at: int = 1, starts: bool = False) -> Operation:
    """Something done to an instance."""
    return Operation((at, 0), at, kind, succeeded, starts)


class HistoryTests(SynchronousTestCase):
    """What may have become of an instance."""

    def states(self, *done: Operation) -> set[State]:
        """Where it may be after all that."""
        return set(expected("vm", done).states)

    def test_success(self) -> None:
        """A success leaves no doubt."""
        self.assertEqual(self.states(), {State.ABSENT})
        self.assertEqual(self.states(operation(CREATE)), {State.DOWN})
        self.assertEqual(self.states(operation(CREATE, starts=True)), {State.UP})
        self.assertEqual(self.states(operation(CREATE), operation(STARTUP)), {State.UP})
        self.assertEqual(self.states(operation(CREATE), operation(STARTUP), operation(REMOVE)), {State.ABSENT})

    def test_failure(self) -> None:
        """A failure may have done its work or not; one that was impossible has done nothing."""
        self.assertEqual(self.states(operation(CREATE, False)), {State.ABSENT, State.DOWN})
        self.assertEqual(self.states(operation(CREATE), operation(SHUTDOWN, False)), {State.UP, State.DOWN})
        self.assertEqual(self.states(operation(STARTUP, False)), {State.ABSENT})

    def test_impossible(self) -> None:
        """What was certainly not there cannot be started."""
        self.assertEqual(len(expected("vm", [operation(CREATE), operation(REMOVE), operation(STARTUP)]).violations), 1)
        self.assertEqual(expected("vm", [operation(CREATE, False), operation(STARTUP)]).violations, ())

    def test_order(self) -> None:
        """The order is that in which the lock was had; what never ran does not count."""

        def op(kind: str, at: int | None) -> QueuedOp:
            began = None if at is None else (at, 0)
            return QueuedOp(input={"OP_ID": kind, "instance_name": "vm"}, status=Status.SUCCESS, exec_timestamp=began)

        jobs = [QueuedJob(id=1, ops=[op(STARTUP, 9), op(REMOVE, None)]), QueuedJob(id=2, ops=[op(CREATE, 5)])]
        self.assertEqual([each.kind for each in operations(jobs)["vm"]], [CREATE, STARTUP])


class ObservationsTests(SynchronousTestCase):
    """What a suspicious client notes."""

    def seen(self, *looks: list[str]) -> list[str]:
        """The violations in a row of looks at one job."""
        observations = Observations()
        for statuses in looks:
            observations.see_job(1, statuses)
        return observations.violations

    def test_final_is_final(self) -> None:
        """An opcode that has ended stays so."""
        self.assertEqual(len(self.seen(["success"], ["error"])), 1)
        self.assertEqual(self.seen(["queued"], ["waiting"], ["queued"], ["running"], ["success"], ["success"]), [])

    def test_runs_once(self) -> None:
        """An opcode that ran does not wait again."""
        self.assertEqual(len(self.seen(["running"], ["waiting"])), 1)

    def test_dead_owners(self) -> None:
        """A dead process may hold locks for a moment; once it is too long it is said once."""
        observations = Observations()
        for now in (0.0, RELEASE_LIMIT):
            observations.see_dead_owners({"job_1"}, now)
        observations.see_dead_owners(set(), RELEASE_LIMIT + 1)
        observations.see_dead_owners({"job_1"}, RELEASE_LIMIT + 2)
        self.assertEqual(observations.violations, [])
        for now in (0, 1, 2):
            observations.see_dead_owners({"job_1"}, 3 * RELEASE_LIMIT + now)
        self.assertEqual(len(observations.violations), 1)

    def test_serials(self) -> None:
        """No node's configuration goes back."""
        observations = Observations()
        for serial in (3, 3, 4, 2):
            observations.see_serial("node1", serial)
        self.assertEqual(len(observations.violations), 1)


class JobTests(SynchronousTestCase):
    """The jobs at the end."""

    def job(self, status: Status, **more: Any) -> QueuedJob:
        """A job with one opcode."""
        op = QueuedOp(
            input={"OP_ID": "OP_TEST_DELAY"}, status=status, result=more.pop("result", None), log=more.pop("log", [])
        )
        return QueuedJob(id=1, ops=[op], end_timestamp=(1, 0), **more)

    def check(self, job: QueuedJob | None, last_seen: str = "running") -> int:
        """How many violations there are."""
        observations = Observations()
        observations.see_job(1, [last_seen])
        return len(check_jobs({} if job is None else {1: job}, {1}, observations))

    def test_all_is_well(self) -> None:
        """A job that ended."""
        self.assertEqual(self.check(self.job(Status.SUCCESS)), 0)

    def test_wrong(self) -> None:
        """Lost, unfinished, without a reason, with a torn log, or with another end than was seen."""
        log = [(2, (1, 0), "message", ""), (2, (1, 0), "message", "")]
        self.assertEqual(self.check(None), 1)
        self.assertEqual(self.check(self.job(Status.RUNNING)), 1)
        self.assertEqual(self.check(self.job(Status.ERROR)), 1)
        self.assertEqual(self.check(self.job(Status.SUCCESS, log=log)), 1)
        self.assertEqual(self.check(self.job(Status.SUCCESS), "canceled"), 1)


class ScheduleTests(SynchronousTestCase):
    """The plan."""

    def test_replay(self) -> None:
        """A seed gives the same plan each time, another seed another."""
        self.assertEqual(plan(1, 60, 30, True), plan(1, 60, 30, True))
        self.assertNotEqual(plan(1, 60, 30, True), plan(2, 60, 30, True))

    def test_kills(self) -> None:
        """There are as many kills as were asked for, in the given time and its order."""
        planned = plan(1, 60, 30, False)
        self.assertEqual(sum(each.fault in KILLS for each in planned), 30)
        self.assertEqual(sorted(each.at for each in planned), [each.at for each in planned])
        self.assertLessEqual(planned[-1].at, 60)
        self.assertNotIn(Fault.FULL_DISK, {each.fault for each in planned})
