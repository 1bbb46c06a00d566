"""A queue of thousands of jobs on a real disk, read by real threads: how often it is touched."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall
from twisted.trial.unittest import TestCase

from ganeti_tx.logic.registry import UNITS
from ganeti_tx.luxid.job_methods import JobMethods
from ganeti_tx.luxid.job_rows import JobRows
from ganeti_tx.query.resources import make_queries
from ganeti_tx.query.view import Views
from ganeti_tx.queue.archiving import Archiving
from ganeti_tx.queue.changes import JobChanges, as_json
from ganeti_tx.queue.files.drain import DrainFlag
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status, encode_job
from ganeti_tx.queue.scheduler import Scheduler
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.test.fakes.launcher import FakeLauncher
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model.samples import CONFIG

ARCHIVED, LIVE = 10_000, 3_000
LAST = ARCHIVED + LIVE
NOW = 10**9
#: The shortest life of a job; the job before ended so much earlier.
AGE = 60


class CountingFiles(RealFiles):
    """The real disk; counts what is opened and which directories are listed."""

    def __init__(self, threads: Any) -> None:
        super().__init__(threads)
        self.opened: Counter[str] = Counter()
        self.listed: Counter[str] = Counter()

    def read(self, path: Path, limit: int, *, links: bool = True) -> bytes:
        """As IFiles."""
        self.opened[path.name] += 1
        return super().read(path, limit, links=links)

    def listdir(self, path: Path) -> list[str]:
        """As IFiles."""
        self.listed[path.name] += 1
        return super().listdir(path)

    def forget(self) -> None:
        """Count from here."""
        self.opened.clear()
        self.listed.clear()


def job_file(job_id: int) -> bytes:
    """Job N ended when N jobs had their minute; every thousandth failed."""
    status = Status.SUCCESS if job_id % 1000 else Status.ERROR
    op = QueuedOp(input={"OP_ID": "OP_INSTANCE_STARTUP", "instance_name": f"web{job_id}"}, status=status)
    end = NOW - (LAST - job_id) * AGE
    return encode_job(QueuedJob(id=job_id, ops=[op], received_timestamp=(end - 1, 0), end_timestamp=(end, 0)))


async def nobody(told: Any) -> None:
    """There are no candidates."""


async def look_for_dead() -> None:
    """No process of a job dies."""


def make_queue(root: Path) -> Paths:
    """Jobs 1 to 10,000 in the archive, 3,000 more in the queue."""
    paths = Paths(root.absolute())
    for job_id in range(1, LAST + 1):
        path = paths.archived_job_file(job_id) if job_id <= ARCHIVED else paths.job_file(job_id)
        if job_id in (1, ARCHIVED, ARCHIVED + 1):
            path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.write(descriptor, job_file(job_id))
        os.close(descriptor)
    return paths


class BigQueueTests(TestCase):
    """All jobs have ended. One directory serves all tests."""

    made: Paths | None = None

    def setUp(self) -> Any:
        """Make the files, once, and load them."""
        self.paths = BigQueueTests.made = BigQueueTests.made or make_queue(Path(self.mktemp()))
        threads = reactor_threads(reactor)  # type: ignore[arg-type]
        self.files = CountingFiles(threads)
        self.moved: list[tuple[str, str]] = []
        self.store = JobStore(self.files, self.paths, nobody, self.moved.extend, threads)
        self.rows = JobRows(self.store)
        clock: Any = reactor
        changes = JobChanges(clock, self.store.get)
        scheduler = Scheduler(
            self.store,
            changes,
            FakeLauncher(),
            lambda: NOW,
            running_limit=lambda: 20,
            tracked_limit=lambda: 25,
            rules=dict,
            look_for_dead=look_for_dead,
        )
        drain = DrainFlag(self.files, self.paths, nobody)
        archiving = Archiving(self.store, clock, lambda: NOW, scheduler.is_followed)
        self.methods = JobMethods(scheduler, self.store, self.rows, changes, drain, clock, archiving, UNITS)
        self.queries = make_queries(Views(lambda: CONFIG), FakeNodeRpc(), lambda: (), self.rows)
        return Deferred.fromCoroutine(self._load())

    async def _load(self) -> None:
        await self.store.load()
        self.at_start, self.listed_at_start = self.files.opened.copy(), self.files.listed.copy()
        self.files.forget()

    async def ask(self, fields: list[str], condition: object = None) -> list[list[Any]]:
        """The values of a query."""
        data = (await self.queries.query("job", fields, condition))["data"]
        return [[value for _, value in row] for row in data]

    def test_start(self) -> None:
        """At the start each live job's file is opened once, no archived one, and only the newest part of the archive is listed."""
        jobs = Counter({name: count for name, count in self.at_start.items() if name.startswith("job-")})
        self.assertEqual(jobs, Counter(f"job-{job_id}" for job_id in range(ARCHIVED + 1, LAST + 1)))
        self.assertEqual(self.listed_at_start, Counter({"queue": 1, "archive": 1, "1": 1}))
        self.assertEqual(self.store.last_id, LAST)

    async def test_lists(self) -> None:
        """The usual list, the newest jobs, those in a status or of an age: no file is opened, no directory listed."""
        rows = await self.ask(["id", "status", "summary"])
        self.assertEqual([row[0] for row in rows], list(range(ARCHIVED + 1, LAST + 1)))
        self.assertEqual(rows[0][2], [f"INSTANCE_STARTUP(web{ARCHIVED + 1})"])
        self.assertEqual(await self.ask(["id"], [">", "id", LAST - 2]), [[LAST - 1], [LAST]])
        self.assertEqual(await self.ask(["id"], ["==", "status", "error"]), [[11_000], [12_000], [13_000]])
        self.assertEqual(await self.ask(["id"], [">", "end_ts", NOW - 2 * AGE]), [[LAST - 1], [LAST]])
        ten = ["|", *(["==", "id", job_id] for job_id in range(LAST - 9, LAST + 1))]
        self.assertEqual(len(await self.ask(["id", "status", "summary"], ten)), 10)
        self.assertEqual(len(as_json(await self.methods.query(None, ["id", "status"]))), LIVE)
        self.assertEqual((self.files.opened, self.files.listed), (Counter(), Counter()))

    async def test_details(self) -> None:
        """The details of one job, live or archived, open its file and no other, and list nothing."""
        for job_id in (1, LAST):
            self.files.forget()
            ((number, (op,)),) = await self.methods.query([job_id], ["id", "ops"])
            self.assertEqual((number, op["instance_name"]), (job_id, f"web{job_id}"))
            self.assertEqual((self.files.opened, self.files.listed), (Counter({f"job-{job_id}": 1}), Counter()))

    async def test_archived(self) -> None:
        """The list with archived jobs opens each archived file once; for ids alone none; others have their turns meanwhile."""
        turns: list[None] = []
        ticking = LoopingCall(lambda: turns.append(None))
        ticking.start(0.001)
        rows = await self.ask(["id", "status", "archived"])
        ticking.stop()
        self.assertEqual([row[0] for row in rows], list(range(1, LAST + 1)))
        self.assertEqual(sum(row[2] for row in rows), ARCHIVED)
        self.assertEqual(self.files.opened, Counter(f"job-{job_id}" for job_id in range(1, ARCHIVED + 1)))
        self.assertGreater(len(turns), ARCHIVED // 1000)
        self.files.forget()
        self.assertEqual(len(await self.ask(["id", "archived"], ["<", "id", 6])), 5)
        self.assertEqual(self.files.opened, Counter())

    async def test_auto_archive(self) -> None:
        """Archiving by age opens and lists nothing; what was too young stays, also after a restart."""
        self.addCleanup(self.put_back)
        self.assertEqual(await self.methods.auto_archive(1000 * AGE, 60), (LIVE - 1000, 0))
        self.assertEqual((self.files.opened, self.files.listed), (Counter(), Counter()))
        self.assertEqual(self.moved[0], ("job-10001", "archive/1/job-10001"))
        self.assertEqual(len(self.moved), LIVE - 1000)
        await self.store.load()
        self.assertEqual(list(self.store.live), list(range(LAST - 999, LAST + 1)))

    def put_back(self) -> None:
        """Undo the archiving, for the other tests."""
        for old, new in self.moved:
            (self.paths.queue_dir / new).rename(self.paths.queue_dir / old)
