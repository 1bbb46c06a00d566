"""What jobs are judged by, found out once."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GenericError
from ganeti_tx.model.scope import SCOPES_SOURCE, read_scope
from ganeti_tx.model.signature import CALLER_SOURCE
from ganeti_tx.rapi.access.judged_jobs import AT_ONCE, JudgedJob, RememberedJobs, judged
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
        self.asked: list[tuple[int, int]] = []
        #: What answers wait for, unless they come at once.
        self.waiting: list[Deferred[None]] | None = None
        self.remembered = RememberedJobs(FakeLuxi({"Query": self.query}))

    def query(self, resource: str, fields: list[str], condition: list[Any]) -> Any:
        """The queue's answer."""
        self.assertEqual((resource, fields), ("job", ["id", "received_ts", "ops"]))
        both, (at_least, _id, first), (at_most, _name, last) = condition
        self.assertEqual((both, at_least, at_most), ("&", ">=", "<="))
        self.asked.append((first, last))
        rows = [
            [[0, number], [0, at], [0, ops]]
            for number, (at, ops) in self.queue.items() if first <= number <= last
        ]  # fmt: skip
        answer = {"fields": [], "data": rows}
        if self.waiting is None:
            return answer
        self.waiting.append(Deferred())
        return self.waiting[-1].addCallback(lambda _: answer)

    def names(self) -> list[str]:
        """What all jobs of the queue are about."""
        return self.successResultOf(self.names_soon())

    def names_soon(self) -> "Deferred[list[str]]":
        """The same, once it is known."""
        listed = [(number, at) for number, (at, _ops) in self.queue.items()]
        finding = Deferred.fromCoroutine(self.remembered.of(listed))
        return finding.addCallback(lambda jobs: [name for job in jobs for names in job.instances for name in names])

    def test_once(self) -> None:
        """Only those that are new are asked for."""
        self.assertEqual(self.names(), ["web1", "web2", "web3"])
        self.assertEqual(self.names(), ["web1", "web2", "web3"])
        self.queue[4] = ([4, 0], [startup("db")])
        self.assertEqual(self.names(), ["web1", "web2", "web3", "db"])
        self.assertEqual(self.asked, [(1, 3), (4, 4)])

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
        self.assertEqual(self.asked, [(1, 3), (2, 2)])
        jobs = self.successResultOf(Deferred.fromCoroutine(self.remembered.of([(7, [7, 0])])))
        self.assertEqual(jobs, [JudgedJob((), set())])

    def test_in_parts(self) -> None:
        """Of very many jobs some are asked for at a time, and others have their turn meanwhile; what is known is not asked."""
        self.queue = {
            number: ([number, 0], [startup(f"web{number}")]) for number in range(10, 10 + 2 * (AT_ONCE + 2), 2)
        }
        numbers = list(self.queue)
        self.waiting = []
        finding = self.names_soon()
        self.assertEqual(self.asked, [(10, numbers[AT_ONCE - 1])])
        self.waiting.pop().callback(None)
        self.assertEqual(self.asked[1:], [(numbers[AT_ONCE], numbers[-1])])
        self.assertNoResult(finding)
        self.waiting.pop().callback(None)
        self.assertEqual(self.successResultOf(finding), [f"web{number}" for number in numbers])
        self.waiting = None
        del self.queue[numbers[3]]
        self.queue[numbers[7]] = ([0, 7], [startup("db")])
        self.asked.clear()
        self.assertEqual(len(self.names()), len(numbers) - 1)
        self.assertEqual(self.asked, [(numbers[7], numbers[7])])

    def test_at_once(self) -> None:
        """Who lists them while somebody finds out waits for that, and reads only what came since."""
        self.waiting = []
        first = self.names_soon()
        self.queue[4] = ([4, 0], [startup("db")])
        second, third = self.names_soon(), self.names_soon()
        self.assertEqual(self.asked, [(1, 3)])
        self.waiting.pop(0).callback(None)
        self.assertEqual(self.successResultOf(first), ["web1", "web2", "web3"])
        self.assertEqual(self.asked, [(1, 3), (4, 4)])
        second.cancel()
        self.failureResultOf(second)
        self.waiting.pop(1).callback(None)
        self.assertEqual(self.successResultOf(third), ["web1", "web2", "web3", "db"])

    def test_failed(self) -> None:
        """Where the answer fails, whoever waited asks for himself."""
        self.waiting = []
        first, second = self.names_soon(), self.names_soon()
        self.waiting.pop().errback(GenericError("away"))
        self.failureResultOf(first, GenericError)
        self.waiting.pop().callback(None)
        self.assertEqual(self.successResultOf(second), ["web1", "web2", "web3"])
