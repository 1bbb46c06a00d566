"""LUXI's methods about jobs, over a queue in memory."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, GenericError, JobQueueError, OpCodeUnknown, OpPrereqError
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.luxid.dispatch import LuxiDispatch
from ganeti_tx.luxid.job_methods import JobMethods
from ganeti_tx.luxid.job_rows import JobRows
from ganeti_tx.luxid.watcher_pause import WatcherPause
from ganeti_tx.model.opcodes import Disclosure, OpTestDelay, encode
from ganeti_tx.queue.archiving import BATCH, Archiving
from ganeti_tx.queue.changes import as_json
from ganeti_tx.queue.files.drain import DrainFlag
from ganeti_tx.runtime.watcher_pause import PauseFile
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.queue.test_scheduler import Queue, run_now

DELAY = encode(OpTestDelay(duration=0.0), Disclosure.WIRE)


class JobMethodTests(SynchronousTestCase):
    """JobMethods behind the dispatch that LUXI uses."""

    def setUp(self) -> None:
        """An empty queue whose jobs wait for processes."""
        self.queue = Queue()
        run_now(self.queue.store.load())
        self.told: list[bool] = []
        self.drain = DrainFlag(self.queue.files, self.queue.paths, self.tell)
        self.methods = JobMethods(
            self.queue.scheduler,
            self.queue.store,
            JobRows(self.queue.store),
            self.queue.changes,
            self.drain,
            self.queue.clock,
            Archiving(self.queue.store, self.queue.clock, self.queue.clock.seconds, self.queue.scheduler.is_followed),
            UNITS,
        )
        self.dispatch = LuxiDispatch(self.methods.table())

    async def tell(self, drained: bool) -> None:
        """The candidates hear of the drain flag."""
        self.told.append(drained)

    def ask(self, method: str, *args: Any) -> "Deferred[Any]":
        """One request."""
        return Deferred.fromCoroutine(self.dispatch(method, list(args), None))

    def get(self, method: str, *args: Any) -> Any:
        """Its answer."""
        return self.successResultOf(self.ask(method, *args))

    def finish_all(self) -> None:
        """Every job that runs succeeds."""
        for runner in self.queue.launcher.runners:
            if runner.job is not None and not runner.over.called:
                self.queue.finish(runner)

    def test_submit(self) -> None:
        """A job gets the next number; of many each gets its own answer, and what cannot be done does not spoil the others."""
        self.assertEqual(self.get("SubmitJob", [DELAY]), 1)
        answers = self.get("SubmitManyJobs", [[DELAY], [{**DELAY, "depends": [[99, []]]}], [DELAY]])
        self.assertEqual([answers[0], answers[2]], [(True, 2), (True, 3)])
        self.assertEqual(answers[1][0], False)
        self.assertIn("99", answers[1][1])

    def test_submit_many_malformed(self) -> None:
        """Of many jobs none is stored when one cannot be read."""
        for bad in ({"OP_ID": "OP_NO_SUCH"}, {**DELAY, "priority": 19}, {}, {**DELAY, "colour": 1}):
            self.failureResultOf(self.ask("SubmitManyJobs", [[DELAY], [DELAY, bad]]), OpCodeUnknown, OpPrereqError)
        self.assertEqual(dict(self.queue.store.jobs), {})

    def test_as_sent(self) -> None:
        """Opcodes are stored and shown as they were sent, what was left out is filled in."""
        sent = {
            "OP_ID": "OP_TEST_DELAY",
            "duration": 2,
            "on_nodes": [],
            "on_node_uuids": ["uuid-1"],
            "debug_level": 0,
            "dry_run": None,
            "reason": [["gnt:user", "why", 5]],
        }
        self.get("SubmitManyJobs", [[sent, sent]])
        ((_own, ops),) = self.get("QueryJobs", [1], ["id", "ops"])
        for index, op in enumerate(ops):
            reason = op.pop("reason")
            self.assertEqual(
                [reason[0], reason[1][:2]], [["gnt:user", "why", 5], ["gnt:opcode:test_delay", f"job=1;index={index}"]]
            )
            filled = {"on_master": True, "repeat": 0, "interruptible": False, "no_locks": True}
            common = {"priority": 0, "depends": None, "comment": None}
            told = {name: value for name, value in sent.items() if name not in ("reason", "dry_run")}
            self.assertEqual(op, {**told, **filled, **common})
            self.assertIsInstance(op["duration"], int)
        self.assertEqual(self.queue.on_disk(1).ops[0].input["duration"], 2)

    def test_nulls(self) -> None:
        """Null stands for the default where it is no value, and the default is stored."""
        self.get("SubmitJob", [{**DELAY, "on_master": None, "repeat": None, "priority": None, "on_node_uuids": None}])
        ((op,),) = self.get("QueryJobs", [1], ["ops"])[0]
        self.assertEqual([op[name] for name in ("on_master", "repeat", "priority")], [True, 0, 0])
        self.assertNotIn("on_node_uuids", op)
        for name in ("duration", "reason"):
            self.failureResultOf(self.ask("SubmitJob", [{**DELAY, name: None}]), OpPrereqError)

    def test_many_opcodes(self) -> None:
        """A job may have several thousand opcodes; what bounds it is their size, and it spoils no other job."""
        self.assertEqual(self.get("SubmitJob", [DELAY] * 5000), 1)
        self.assertEqual(len(self.queue.on_disk(1).ops), 5000)
        large = {**DELAY, "comment": "x" * 100_000}
        error = self.failureResultOf(self.ask("SubmitJob", [large] * 101), JobQueueError).value
        self.assertIn("the job is too large: its 101 opcodes take", str(error))
        self.assertIn(f"allowed are {8 * 1024 * 1024}", str(error))
        self.assertEqual(self.get("SubmitManyJobs", [[large] * 101, [DELAY]])[1], (True, 2))
        huge = {**DELAY, "comment": "x" * 9_000_000}
        self.failureResultOf(self.ask("SubmitJob", [huge]), OpPrereqError)

    def test_bad_opcode(self) -> None:
        """A wrong opcode is refused and stores nothing."""
        for bad in ({"OP_ID": "OP_TEST_DELAY", "duration": "x"}, {"OP_ID": "OP_TEST_DELAY"}, {}, 5, None):
            self.failureResultOf(self.ask("SubmitJob", [bad]), GenericError, OpPrereqError)
        self.assertEqual(dict(self.queue.store.jobs), {})

    def test_not_built(self) -> None:
        """An opcode without a logical unit is refused at once, with all that came with it in one job, and nothing is stored."""
        name = {"instance_name": "web1", "reason": []}
        unbuilt = {
            "OP_ID": "OP_TEST_DUMMY", "reason": [], "result": 1, "messages": None, "fail": None, "submit_jobs": None
        }  # fmt: skip
        jobs = [{"OP_ID": "OP_INSTANCE_SHUTDOWN", **name}, unbuilt]
        error = self.failureResultOf(self.ask("SubmitJob", jobs), OpCodeUnknown).value
        self.assertEqual(str(error), "OP_TEST_DUMMY is not available in this version; the job is not submitted")
        self.failureResultOf(self.ask("SubmitJobToDrainedQueue", jobs), OpCodeUnknown)
        self.assertEqual(self.get("SubmitManyJobs", [jobs]), [(False, str(error))])
        self.assertEqual(dict(self.queue.store.jobs), {})
        self.assertEqual(self.get("SubmitManyJobs", [jobs, [DELAY]])[1], (True, 1))

    def test_drained(self) -> None:
        """While the queue is drained only who insists may submit."""
        self.assertEqual(self.get("SetDrainFlag", True), True)
        for method, jobs in (("SubmitJob", [DELAY]), ("SubmitManyJobs", [[DELAY]])):
            self.assertIn("undrain", str(self.failureResultOf(self.ask(method, jobs), GenericError).value))
        self.assertEqual(self.get("SubmitJobToDrainedQueue", [DELAY]), 1)
        self.get("SetDrainFlag", False)
        self.assertEqual(self.get("SubmitJob", [DELAY]), 2)
        self.assertEqual(self.told, [True, False])

    def test_query(self) -> None:
        """A row a job in the order asked for; one that is not there has its number and nulls."""
        self.get("SubmitManyJobs", [[DELAY], [DELAY]])
        self.assertEqual(
            self.get("QueryJobs", [2, 9, 1], ["id", "summary"]),
            [[2, ["TEST_DELAY(0.0)"]], [9, None], [1, ["TEST_DELAY(0.0)"]]],
        )
        self.assertEqual([row[0] for row in as_json(self.get("QueryJobs", None, ["id"]))], [1, 2])
        self.assertEqual([row[0] for row in as_json(self.get("QueryJobs", [], ["id"]))], [1, 2])
        self.assertIn("colour", str(self.failureResultOf(self.ask("QueryJobs", None, ["colour"]), OpPrereqError).value))

    def test_too_many_fields(self) -> None:
        """Nobody makes an answer as large as he likes by asking for a field again and again."""
        self.get("SubmitJob", [DELAY])
        for fields in (["ops"] * 101, ["archived"] * 101):
            failure = self.failureResultOf(self.ask("QueryJobs", None, fields), OpPrereqError)
            self.assertIn("101 fields asked for; allowed are 100", str(failure.value))
        self.failureResultOf(self.ask("WaitForJobChange", 1, ["ops"] * 101, None, None, 1), OpPrereqError)

    def test_archive(self) -> None:
        """Only a finished job is archived; it can still be asked for by its number."""
        self.get("SubmitJob", [DELAY])
        self.assertFalse(self.get("ArchiveJob", 1))
        self.finish_all()
        self.assertTrue(self.get("ArchiveJob", 1))
        self.assertFalse(self.get("ArchiveJob", 1))
        self.assertEqual(self.get("QueryJobs", [1], ["id", "archived", "status"]), [[1, True, "success"]])

    def test_auto_archive(self) -> None:
        """Many are archived batch by batch, with the reactor's turn between them; age and time limit count."""
        count = BATCH + 1
        self.get("SubmitManyJobs", [[DELAY]] * count)
        for _ in range(count):
            self.finish_all()
        self.assertEqual(self.get("AutoArchiveJobs", 10, 60), (0, 0))
        archiving = self.ask("AutoArchiveJobs", -1, 60)
        self.assertNoResult(archiving)
        self.assertEqual(len(self.queue.store.jobs), 1)
        self.queue.clock.pump([0, 0])
        self.assertEqual(self.successResultOf(archiving), (count, 0))
        self.assertEqual(dict(self.queue.store.jobs), {})

    def test_auto_archive_out_of_time(self) -> None:
        """What was not looked at in time is counted."""
        self.get("SubmitJob", [DELAY])
        self.finish_all()
        self.assertEqual(self.get("AutoArchiveJobs", -1, 0), (0, 1))

    def test_priority(self) -> None:
        """A priority outside the range is refused with the range."""
        self.get("SubmitJob", [DELAY])
        for priority in (-21, 20):
            text = str(self.failureResultOf(self.ask("ChangeJobPriority", 1, priority), OpPrereqError).value)
            self.assertIn("-20 to 19", text)

    def test_unknown_method(self) -> None:
        """A method that is not there is an error that says what is."""
        error = self.failureResultOf(self.ask("Fly"), OpPrereqError).value
        self.assertIn("Fly is not available", str(error))
        self.assertIn(ECode.INVAL, error.args)


class WatcherPauseTests(SynchronousTestCase):
    """The watcher's pause."""

    def setUp(self) -> None:
        """Second 1000."""
        queue = Queue()
        self.clock, self.files, self.paths = queue.clock, queue.files, queue.paths
        self.file = PauseFile(self.files, self.paths, self.clock.seconds)
        self.pause = WatcherPause(self.file, FakeNodeRpc(), list)

    def test_pause(self) -> None:
        """A pause lasts until its end, and can be ended early."""
        run_now(self.pause.set(1010.0))
        self.assertEqual(self.file.get(), 1010.0)
        self.clock.advance(11)
        self.assertIsNone(self.file.get())
        run_now(self.pause.set(2000.0))
        for _ in range(2):
            self.assertIsNone(run_now(self.pause.set(None)))
        self.assertIsNone(self.file.get())

    def test_past(self) -> None:
        """A pause that is over before it begins is refused."""
        self.failureResultOf(Deferred.fromCoroutine(self.pause.set(999.0)), OpPrereqError)

    def test_junk(self) -> None:
        """A file that holds no time is no pause."""
        run_now(self.files.write_atomic(self.paths.watcher_pause_file, b"soon\xff"))
        self.assertIsNone(self.file.get())
