"""Jobs in answers to queries: live, archived, missing, damaged."""

from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobFileCorrupted, OpPrereqError
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.luxid.job_methods import JobMethods
from ganeti_tx.luxid.job_rows import JobRows
from ganeti_tx.query.language.cell import UNAVAILABLE
from ganeti_tx.query.resources import make_queries
from ganeti_tx.query.view import Views
from ganeti_tx.queue.archiving import Archiving
from ganeti_tx.queue.changes import JobChanges, as_json
from ganeti_tx.queue.files.drain import DrainFlag
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status
from ganeti_tx.queue.scheduler import Scheduler
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.launcher import FakeLauncher
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model.samples import CONFIG
from ganeti_tx.test.query.facts_table import FACTS


class JobCase(SynchronousTestCase):
    """A queue with jobs 1 to 4, of which 1 and 3 are finished and archived."""

    def setUp(self) -> None:
        """Store the jobs."""
        self.files, self.paths, clock = MemoryFiles(), Paths(), Clock()
        self.files.mkdir(self.paths.data_dir)
        self.store = JobStore(self.files, self.paths, self.replicate, lambda renames: None)
        self.run_now(self.store.load())
        self.run_now(self.store.add(self.job, 4))
        self.run_now(self.store.archive([1, 3]))
        changes = JobChanges(clock, self.store.get)
        scheduler = Scheduler(
            self.store,
            changes,
            FakeLauncher(),
            clock.seconds,
            lambda: 20,
            tracked_limit=lambda: 25,
            look_for_dead=self.look_for_dead,
            rules=dict,
        )
        drain = DrainFlag(self.files, self.paths, self.tell)
        rows = JobRows(self.store)
        archiving = Archiving(self.store, clock, clock.seconds, scheduler.is_followed)
        self.methods = JobMethods(scheduler, self.store, rows, changes, drain, clock, archiving, UNITS)
        self.queries = make_queries(Views(lambda: CONFIG), FakeNodeRpc(), lambda: (), rows)

    def job(self, number: int) -> QueuedJob:
        """A job, finished when its number is odd."""
        status = Status.SUCCESS if number % 2 else Status.QUEUED
        op = QueuedOp(input={"OP_ID": "OP_TEST_DELAY", "duration": number, "comment": "one"}, status=status, result=7)
        return QueuedJob(id=number, ops=[op], received_timestamp=(100 + number, 5))

    async def replicate(self, files: dict[str, bytes]) -> None:
        """Nowhere."""

    async def look_for_dead(self) -> None:
        """Nobody."""

    async def tell(self, drained: bool) -> None:
        """Nobody."""

    def run_now(self, work: Any) -> Any:
        """The result of what waits for nothing."""
        return self.successResultOf(Deferred.fromCoroutine(work))

    def ask(self, fields: list[str], condition: object = None) -> Any:
        """The values of a query."""
        data = self.run_now(self.queries.query("job", fields, condition))["data"]
        return [[value for _, value in row] for row in data]

    def classic(self, ids: list[int] | None, fields: list[str]) -> Any:
        """The rows of QueryJobs."""
        return as_json(self.run_now(self.methods.query(ids, fields)))

    def damage(self, number: int) -> None:
        """Spoil an archived job's file."""
        self.run_now(self.files.write_atomic(self.paths.archived_job_file(number), b"{"))


class ArchivedTests(JobCase):
    """Archived jobs, by either call."""

    def test_hidden(self) -> None:
        """All jobs are those that are not archived."""
        self.assertEqual(self.ask(["id"]), [[2], [4]])
        self.assertEqual(self.classic(None, ["id"]), [[2], [4]])

    def test_listed(self) -> None:
        """Who asks which jobs are archived gets the archived ones too."""
        expected = [[1, True], [2, False], [3, True], [4, False]]
        self.assertEqual(self.ask(["id", "archived"]), expected)
        self.assertEqual(self.classic(None, ["id", "archived"]), expected)

    def test_filtered(self) -> None:
        """So does who filters by it."""
        self.assertEqual(self.ask(["id"], ["?", "archived"]), [[1], [3]])
        self.assertEqual(self.ask(["id"], ["!", ["?", "archived"]]), [[2], [4]])

    def test_by_id(self) -> None:
        """A job asked for by id is found in the archive, in the order asked."""
        asked = ["|", ["=", "id", 3], ["=", "id", "2"]]
        self.assertEqual(self.ask(["id", "status"], asked), [[3, "success"], [2, "queued"]])
        self.assertEqual(self.classic([3, 2], ["id", "archived"]), [[3, True], [2, False]])

    def test_damaged(self) -> None:
        """One file in the archive that is no job hides no other: it shows once without its values, and is set aside."""
        self.damage(1)
        rows = [[2, "queued", False], [3, "success", True], [4, "queued", False]]
        fields = ["id", "status", "archived"]
        self.assertEqual(self.ask(fields), [[1, None, True], *rows])
        self.assertEqual(self.ask(fields), rows)
        self.assertEqual(self.classic(None, fields), rows)
        self.assertEqual(self.files.read(self.paths.queue_lost_dir / "job-1", 9), b"{")

    def test_damaged_by_id(self) -> None:
        """Asked for by id, such a file is an error that says where it is kept."""
        for work in (self.queries.query("job", ["id", "status"], ["=", "id", 1]), self.methods.query([1], ["status"])):
            self.damage(1)
            error = self.failureResultOf(Deferred.fromCoroutine(work), JobFileCorrupted).value
            self.assertIn("lost+found", str(error))

    def test_files_opened(self) -> None:
        """A list of live jobs opens no file, one job's details one, and a list of all jobs one for each archived job."""
        opened: list[str] = []

        def count(operation: str, path: Path) -> None:
            if operation == "read":
                opened.append(path.name)

        self.files.fault = count
        self.ask(["id", "status", "summary", "end_ts"], ["=", "status", "queued"])
        self.classic(None, ["id", "summary"])
        self.ask(["id", "archived"])
        self.assertEqual(opened, [])
        self.classic([3], ["id", "ops", "opresult"])
        self.assertEqual(opened, ["job-3"])
        self.ask(["id", "status", "archived"])
        self.assertEqual(opened, ["job-3", "job-1", "job-3"])

    def test_archived_meanwhile(self) -> None:
        """A job that was archived between finding and reading is read where it is now; one that is gone is left out."""
        self.run_now(self.store.put(self.job(4 + 1)))
        rows = JobRows(self.store)
        refs = self.run_now(rows.find([5, 2], False))
        self.run_now(self.store.archive([5]))
        self.assertEqual(self.run_now(rows.load(refs, True))[5]["archived"], True)
        self.files.remove(self.paths.archived_job_file(5))
        self.assertEqual(set(self.run_now(rows.load(refs, True))), {2})


class RowTests(JobCase):
    """The rows."""

    def test_missing(self) -> None:
        """A job that is not there is a row with its id and nothing else, in both calls."""
        data = self.successResultOf(self.queries.query("job", ["id", "status"], ["=", "id", 77]))["data"]
        self.assertEqual(data, [((0, 77), UNAVAILABLE)])
        self.assertEqual(self.classic([77, 2], ["status", "id"]), [[None, 77], ["queued", 2]])

    def test_all_fields(self) -> None:
        """Both calls give all fields of the table, with the same values."""
        fields = sorted(FACTS["resources"]["job"]["fields"])
        rows = self.ask(fields)
        self.assertEqual(len(rows), 4)
        self.assertEqual(as_json(rows), self.classic(None, fields))

    def test_values(self) -> None:
        """Values are those of the job's file."""
        expected = [4, "queued", 0, ["queued"], [7], (104, 5), None, ["TEST_DELAY(4)"]]
        fields = ["id", "status", "priority", "opstatus", "opresult", "received_ts", "end_ts", "summary"]
        ((*found, summary),) = self.ask(fields, ["=", "id", 4])
        self.assertEqual(found, expected[:-1])
        self.assertEqual(len(summary), 1)
        self.assertIn("TEST_DELAY", summary[0])

    def test_unknown_field(self) -> None:
        """QueryJobs refuses an unknown field; Query says so in each row."""
        self.failureResultOf(Deferred.fromCoroutine(self.methods.query(None, ["bogus"])), OpPrereqError)
        self.assertEqual(self.run_now(self.queries.query("job", ["bogus"], None))["data"], [((1, None),)] * 2)
