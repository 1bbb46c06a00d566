"""What jobs are judged by, found out once."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.scope import SCOPES_SOURCE, read_scope
from ganeti_tx.model.signature import CALLER_SOURCE
from ganeti_tx.rapi.access.judged_jobs import JudgedJob, RememberedJobs, judged
from ganeti_tx.rapi.caller import ANONYMOUS, Caller
from ganeti_tx.test.rapi.requests import FakeLuxi


def startup(name: str, *reason: list[Any]) -> dict[str, Any]:
    """An opcode about an instance."""
    return {"OP_ID": "OP_INSTANCE_STARTUP", "instance_name": name, "reason": list(reason)}


def kept(name: str, *scopes: str) -> Caller:
    """A caller with scopes."""
    return Caller(name, frozenset(map(read_scope, scopes)))


CALLER = kept("web", "tag=web")
WEB = [[CALLER_SOURCE, "web", 1], [SCOPES_SOURCE, "tag=web", 1]]


class JudgedTests(SynchronousTestCase):
    """A job by its opcodes."""

    def test_instances(self) -> None:
        """Seen is what is about instances in scope alone."""
        job = judged([startup("a"), startup("b")])
        self.assertTrue(job.is_seen(CALLER, {"a", "b", "c"}))
        self.assertFalse(job.is_seen(CALLER, {"a"}))
        for nothing in (None, [], [startup("a"), {"OP_ID": "OP_CLUSTER_VERIFY"}]):
            self.assertFalse(judged(nothing).is_seen(CALLER, {"a"}))
            self.assertFalse(judged(nothing).is_seen(ANONYMOUS, {"a"}))

    def test_called_so_before(self) -> None:
        """Who has his name now, and is kept to others, has not asked for it, but whoever may do no less than then has."""
        job = judged([startup("a", *WEB)])
        self.assertFalse(job.is_seen(kept("web", "tag=other"), set()))
        self.assertFalse(job.is_seen(Caller("web"), set()))
        self.assertTrue(job.is_seen(kept("web", "tag=web", "tag=other"), set()))

    def test_own(self) -> None:
        """Seen is also what the caller asked for in all its opcodes, and in scopes."""
        self.assertTrue(judged([startup("a", *WEB), startup("b", *WEB)]).is_seen(CALLER, set()))
        self.assertFalse(judged([startup("a", *WEB)]).is_seen(kept("other", "tag=web"), set()))
        self.assertFalse(judged([startup("a", *WEB), startup("b")]).is_seen(CALLER, set()))
        self.assertFalse(judged([startup("a", WEB[0])]).is_seen(CALLER, set()))
        self.assertFalse(judged([startup("a", WEB[0], [SCOPES_SOURCE, "nonsense", 1])]).is_seen(CALLER, set()))


class RememberedTests(SynchronousTestCase):
    """Jobs of a queue."""

    def setUp(self) -> None:
        """Three of them."""
        self.queue = {number: ([number, 0], [startup(f"web{number}")]) for number in (1, 2, 3)}
        self.asked: list[int] = []
        self.remembered = RememberedJobs(FakeLuxi({"Query": self.query}))

    def query(self, resource: str, fields: list[str], condition: list[Any]) -> Any:
        """The queue's answer."""
        self.assertEqual((resource, fields, condition[:2]), ("job", ["id", "received_ts", "ops"], [">=", "id"]))
        self.asked.append(condition[2])
        rows = [[[0, number], [0, at], [0, ops]] for number, (at, ops) in self.queue.items() if number >= condition[2]]
        return {"fields": [], "data": rows}

    def names(self) -> list[str]:
        """What all jobs of the queue are about."""
        listed = [(number, at) for number, (at, _ops) in self.queue.items()]
        jobs = self.successResultOf(Deferred.fromCoroutine(self.remembered.of(listed)))
        return [name for job in jobs for names in job.instances for name in names]

    def test_once(self) -> None:
        """Only those that are new are asked for."""
        self.assertEqual(self.names(), ["web1", "web2", "web3"])
        self.assertEqual(self.names(), ["web1", "web2", "web3"])
        self.queue[4] = ([4, 0], [startup("db")])
        self.assertEqual(self.names(), ["web1", "web2", "web3", "db"])
        self.assertEqual(self.asked, [1, 4])

    def test_number_that_is_used_again(self) -> None:
        """A queue that was lost begins to count anew; nobody sees a job for what another was about."""
        self.names()
        self.queue[2] = ([9, 0], [startup("db")])
        self.assertEqual(self.names(), ["web1", "db", "web3"])

    def test_gone(self) -> None:
        """What is not listed any more is forgotten; what is gone before it could be looked at is about nothing."""
        self.names()
        kept = self.queue.pop(2)
        self.names()
        self.queue = {2: kept, 3: self.queue[3]}
        self.assertEqual(self.names(), ["web2", "web3"])
        self.assertEqual(self.asked, [1, 2])
        jobs = self.successResultOf(Deferred.fromCoroutine(self.remembered.of([(7, [7, 0])])))
        self.assertEqual(jobs, [JudgedJob((), set())])
