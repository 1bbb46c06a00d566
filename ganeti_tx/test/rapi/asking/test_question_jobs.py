"""Questions that are answered by jobs: equal ones share one, and those of nobody in particular are few. Over HTTP."""

from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.errors import JobQueueFull
from ganeti_tx.model.scope import Scope
from ganeti_tx.rapi.asking.question_jobs import ADDRESS_JOBS, ADDRESS_REFILL, ALL_JOBS, MOST_OPEN, RECENT
from ganeti_tx.rapi.caller import Caller, IGate
from ganeti_tx.test.rapi.requests import Answer, FakeLuxi, Rapi


def info(number: int = 1) -> str:
    """A question that everybody may ask."""
    return f"/2/instances/web{number}/info"


@implementer(IGate)
@define
class NamingGate:
    """Lets everybody in, as whoever the test says."""

    caller: Caller = field(factory=Caller)

    async def admit(self, authorization: str | None, peer: str, operation: Any, parts: Any) -> Caller:
        """As IGate says."""
        return self.caller


class QuestionCase(SynchronousTestCase):
    """A queue of jobs that end when the test says so."""

    def setUp(self) -> None:
        """The caller has no name."""
        self.jobs: dict[int, str] = {}
        self.gate = NamingGate()
        self.luxi = FakeLuxi({"SubmitJob": self.submit, "QueryJobs": self.query, "QueryInstances": self.instances})
        self.rapi = Rapi(luxi=self.luxi, gate=self.gate)

    def submit(self, ops: Any) -> int:
        """A job."""
        job_id = len(self.jobs) + 1
        self.jobs[job_id] = "queued"
        return job_id

    def query(self, job_ids: Any, fields: Any) -> Any:
        """What the jobs are doing."""
        self.assertEqual(fields, ["id", "status"])
        self.assertNotEqual(job_ids, [])
        return [[job_id, self.jobs.get(job_id)] for job_id in job_ids]

    def instances(self, names: Any, fields: Any, lock: Any) -> Any:
        """All are in scope."""
        values = {"name": "web1", "tags": ["web"]}
        return [[values.get(name) for name in fields]]

    def get(self, path: str) -> Answer:
        """A request."""
        return self.rapi.request("GET", path)

    def end_all(self) -> None:
        """All jobs succeed."""
        self.jobs = dict.fromkeys(self.jobs, "success")


class SharingTests(QuestionCase):
    """One job for equal questions."""

    def test_shared(self) -> None:
        """While a job is open equal questions get its id, whatever reasons they give."""
        self.assertEqual(self.get(info()).json, 1)
        for status in ("queued", "waiting", "running", "canceling"):
            self.jobs[1] = status
            self.assertEqual(self.get(f"{info()}?reason=again").json, 1)
        self.assertEqual(len(self.jobs), 1)

    def test_each_his_own(self) -> None:
        """Who has a name shares with himself alone: the job of somebody whose rights are taken away is cancelled."""
        self.assertEqual(self.get(info()).json, 1)
        for job, caller in ((2, Caller("token:ci")), (3, Caller("admin"))):
            self.gate.caller = caller
            self.assertEqual([self.get(info()).json for _ in range(2)], [job, job])

    def test_ended(self) -> None:
        """When it has ended, or is not there any more, there is a new one."""
        for status in ("success", "error", "canceled", None):
            before = self.get(info()).json
            self.jobs[before] = status  # type: ignore[assignment]
            self.assertEqual(self.get(info()).json, before + 1)

    def test_others(self) -> None:
        """Other questions have other jobs."""
        ids = [self.get(path).json for path in (info(1), info(2), f"{info(1)}?static=1")]
        self.assertEqual(ids, [1, 2, 3])

    def test_at_the_same_time(self) -> None:
        """Who asks while the job is just being submitted waits for it."""
        waiting: Deferred[int] = Deferred()
        self.luxi.answers["SubmitJob"] = lambda ops: waiting
        asking = [self.start(info()) for _ in range(3)]
        self.assertEqual([each.answers() for each in asking], [[], [], []])
        self.jobs[1] = "queued"
        waiting.callback(1)
        self.assertEqual([each.answers()[0].json for each in asking], [1, 1, 1])
        self.assertEqual([method for method, _ in self.luxi.calls].count("SubmitJob"), 1)

    def start(self, path: str) -> Any:
        """A request whose answer takes its time."""
        connection = self.rapi.connect()
        connection.channel.dataReceived(f"GET {path} HTTP/1.1\r\nHost: cluster.example\r\n\r\n".encode())
        return connection

    def test_operating_systems(self) -> None:
        """Those who ask for operating systems while somebody finds out hear the same of one job."""
        waiting: list[Deferred[Any]] = [Deferred() for _ in range(3)]
        followers = iter(waiting)
        self.luxi.answers["WaitForJobChange"] = lambda *args: next(followers)
        asking = [self.start("/2/os") for _ in range(3)]
        self.assertEqual(self.jobs, {1: "queued"})
        for each in waiting:
            each.callback([["success", [[["debian", ["minimal"]]]]], []])
        self.assertEqual([each.answers()[0].json for each in asking], [["debian+minimal"]] * 3)

    def test_refused(self) -> None:
        """A refusal is each asker's own, and remembered by nobody."""
        self.luxi.answers["SubmitJob"] = JobQueueFull()
        self.assertEqual(self.get(info()).status, 503)
        self.luxi.answers["SubmitJob"] = self.submit
        self.assertEqual(self.get(info()).json, 1)

    def test_changes(self) -> None:
        """What changes something is never shared."""
        self.gate.caller = Caller("admin")
        ids = [self.rapi.request("PUT", "/2/instances/web1/startup").json for _ in range(2)]
        self.assertEqual(ids, [1, 2])

    def test_scoped(self) -> None:
        """A scoped user shares with himself alone: nobody's job tells him anything."""
        self.assertEqual(self.get(f"{info()}?static=1").json, 1)
        self.gate.caller = Caller("web", frozenset({Scope("tag", "web")}))
        self.assertEqual(self.get(f"{info()}?static=1").json, 2)


class NamelessTests(QuestionCase):
    """Callers without a name."""

    def many(self, count: int, first: int = 1) -> list[int]:
        """The statuses of so many different questions."""
        return [self.get(info(number)).status for number in range(first, first + count)]

    def test_open(self) -> None:
        """So many jobs of theirs may be open; then they must wait, until some have ended."""
        self.assertEqual(self.many(MOST_OPEN), [200] * MOST_OPEN)
        refused = self.get(info(1000))
        self.assertEqual(refused.status, 503)
        self.assertGreater(int(refused.headers["retry-after"]), 0)
        self.assertIn(str(MOST_OPEN), refused.json["message"])
        self.assertEqual(len(self.jobs), MOST_OPEN)
        self.jobs[1] = "success"
        self.assertEqual(self.many(2, 2000), [200, 503])

    def test_joining(self) -> None:
        """To join an open job is always allowed."""
        self.many(MOST_OPEN)
        self.assertEqual(self.get(info(1)).json, 1)

    def test_rate(self) -> None:
        """An address may have so many in a while, even when they end at once; then 429, and one more after some seconds."""
        for number in range(ADDRESS_JOBS):
            self.assertEqual(self.get(info(number)).status, 200)
            self.end_all()
        refused = self.get(info(1000))
        self.assertEqual(refused.status, 429)
        self.rapi.clock.advance(int(refused.headers["retry-after"]))
        self.assertEqual(self.many(2, 2000), [200, 429])
        self.assertLess(int(refused.headers["retry-after"]), 2 * ADDRESS_REFILL)

    def test_looking_again(self) -> None:
        """Who asks the same every second is always answered, by a job that is no older than a minute."""
        submitted: dict[int, float] = {}
        for _ in range(10 * ADDRESS_JOBS):
            job_id = self.get(info()).json
            now = self.rapi.clock.seconds()
            self.assertLessEqual(now - submitted.setdefault(job_id, now), RECENT)
            self.end_all()
            self.rapi.clock.advance(1)
        self.assertLess(len(submitted), 4 * ADDRESS_JOBS)

    def test_old_jobs(self) -> None:
        """A job that is older answers nobody."""
        self.get(info())
        self.rapi.clock.advance(RECENT + 1)
        for number in range(2, 3 + ADDRESS_JOBS):
            self.end_all()
            self.get(info(number))
        self.end_all()
        self.assertEqual(self.get(info()).status, 429)
        self.assertEqual(self.get(info(2)).json, 2)

    def test_many_addresses(self) -> None:
        """All addresses together have a limit, too."""
        statuses = []
        for number in range(ALL_JOBS + 1):
            connection = self.rapi.connect(f"192.0.2.{number}")
            sent = f"GET {info(number)} HTTP/1.1\r\nHost: cluster.example\r\n\r\n".encode()
            statuses.append(connection.send(sent)[0].status)
            self.end_all()
        self.assertEqual(statuses, [200] * ALL_JOBS + [429])

    def test_named(self) -> None:
        """Who gives a name is not limited so."""
        self.gate.caller = Caller("monitor")
        count = ADDRESS_JOBS + MOST_OPEN
        self.assertEqual(self.many(count), [200] * count)
