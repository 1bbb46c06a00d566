"""Candidates that lack a part of the queue: when they are tried, and what they are sent."""

from typing import Any

from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.digest import digest_of
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.queue.copies.catch_up import CHECK_DELAY, CatchUp
from ganeti_tx.queue.copies.comparison import AT_A_TIME, Comparison
from ganeti_tx.queue.copies.pauses import FIRST_PAUSE, LAST_PAUSE, Pauses
from ganeti_tx.queue.copies.replication import Replicator
from ganeti_tx.rpc.calls.queue import JobqueueDigests, JobqueueUpdate
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.rpc import FakeNodeRpc

ONE = NodeAddress("node1", "192.0.2.1")


class Jobs:
    """As much of a store as catching up needs."""

    def __init__(self) -> None:
        self.live: dict[int, object] = {}

    def glance(self, job_id: int) -> object:
        """A live job."""
        return self.live.get(job_id)


def no_jobs() -> Any:
    """A queue in which nothing is yet."""
    return Jobs()


class CatchUpTests(SynchronousTestCase):
    """One candidate, whose files are a dictionary."""

    def setUp(self) -> None:
        self.clock, self.files, self.paths = Clock(), MemoryFiles(), Paths()
        self.files.mkdir(self.paths.queue_dir)
        self.nodes, self.candidates = FakeNodeRpc(), [ONE]
        self.there: dict[str, bytes] = {}
        self.down = False
        self.nodes.answers[JobqueueDigests] = self._digests
        self.nodes.answers[JobqueueUpdate] = self._update
        self.jobs = no_jobs()
        self.busy: dict[int, Deferred[None]] = {}
        self.rest = 0
        self.held: Deferred[None] = succeed(None)
        replicator = Replicator(
            self.nodes, lambda: self.candidates, iter(range(1, 1000)).__next__,
            lambda name: self.catch_up.lacks(name), self.clock,
        )  # fmt: skip
        self.replicator = replicator
        comparison = Comparison(self.files, self.paths, self.nodes)
        self.catch_up = CatchUp(
            self.jobs, replicator, lambda: self.candidates, lambda job: job in self.busy, self._over, self._rest,
            comparison, self.clock,
        )  # fmt: skip
        self.put("serial", b"9\n")

    def _check_up(self, node: str) -> None:
        if self.down:
            raise NodeUnreachableError(f"{node} is away")

    def _digests(self, node: str, call: Any) -> dict[str, str]:
        self._check_up(node)
        return {name: digest_of(self.there[name]) for name in call.names if name in self.there}

    def _update(self, node: str, call: Any) -> None:
        self._check_up(node)
        self.there.update({name: data.encode() for name, data in call.files})

    async def _over(self, job_id: int) -> None:
        await self.busy[job_id]

    async def _rest(self, node: NodeAddress) -> bool:
        self.rest += 1
        await self.held
        return True

    def put(self, name: str, data: bytes) -> None:
        """A file of the queue here."""
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(self.paths.queue_dir / name, data)))

    def job(self, number: int, data: bytes) -> None:
        """A live job here."""
        self.jobs.live[number] = object()
        self.put(f"job-{number}", data)

    def updates(self) -> list[list[str]]:
        """What was sent, call by call."""
        return [[name for name, _ in call.files] for call in self.nodes.of_kind(JobqueueUpdate)]

    def test_only_what_differs(self) -> None:
        """Files that are the same there are not sent."""
        self.job(1, b"same")
        self.job(2, b"new")
        self.there = {"job-1": b"same", "job-2": b"old", "serial": b"9\n"}
        self.catch_up.look()
        self.assertEqual((self.updates(), self.rest), ([["job-2"]], 1))
        self.catch_up.look()
        self.assertEqual((len(self.updates()), self.rest), (1, 1))

    def test_many(self) -> None:
        """No call asks for more than so many files."""
        for number in range(1, 2 * AT_A_TIME):
            self.job(number, b"x")
        self.catch_up.look()
        sizes = [len(call.names) for call in self.nodes.of_kind(JobqueueDigests)]
        self.assertEqual(sizes, [AT_A_TIME, AT_A_TIME, 1])
        self.assertEqual(len(self.there), 2 * AT_A_TIME)

    def test_tried_until_it_has_all(self) -> None:
        """A candidate that is away is tried after growing pauses, whatever else happens, and not after it has all."""
        self.job(1, b"a")
        self.down = True
        tries = []
        for _ in range(2000):
            self.catch_up.look()
            tries.append(len(self.nodes.sent))
            self.clock.advance(1)
        self.assertEqual(tries[0], 1)
        self.assertLess(tries[-1], 2000 / LAST_PAUSE + 5)
        self.assertGreater(tries[-1], 2000 / LAST_PAUSE)
        self.down = False
        self.clock.advance(LAST_PAUSE)
        self.assertEqual(self.there, {"job-1": b"a", "serial": b"9\n"})
        before = len(self.nodes.sent)
        self.clock.advance(10 * LAST_PAUSE)
        self.assertEqual((len(self.nodes.sent), self.clock.getDelayedCalls()), (before, []))

    def test_failed_copy(self) -> None:
        """One that did not take a copy is caught up by itself."""
        self.catch_up.look()
        self.down = True
        self.job(1, b"a")
        self.assertFalse(self.successResultOf(self.replicator.send_to(ONE, {"job-1": b"a"})))
        self.down = False
        self.clock.advance(FIRST_PAUSE)
        self.assertEqual(self.there["job-1"], b"a")

    def test_job_that_runs(self) -> None:
        """A job that has a process is left to it, and compared as soon as the process has left it."""
        self.job(1, b"running")
        self.busy[1] = Deferred()
        self.catch_up.look()
        self.assertNotIn("job-1", self.there)
        self.put("job-1", b"over")
        self.catch_up.changed(1)
        self.busy.pop(1).callback(None)
        self.clock.advance(0)
        self.assertEqual(self.there["job-1"], b"over")

    def test_last_word(self) -> None:
        """The end of a job that its process could not copy is copied; many jobs are compared together."""
        self.catch_up.look()
        for number in (1, 2, 3):
            self.job(number, b"end")
            self.catch_up.changed(number)
        self.there["job-2"] = b"end"
        before = len(self.nodes.of_kind(JobqueueDigests))
        self.clock.advance(CHECK_DELAY)
        self.assertEqual(len(self.nodes.of_kind(JobqueueDigests)), before + 1)
        self.assertEqual(self.updates()[-1], ["job-1", "job-3"])

    def test_ended_while_it_is_served(self) -> None:
        """A job whose process ends while a candidate is given the queue is compared when the candidate has all."""
        self.job(1, b"old")
        self.held = Deferred()
        self.catch_up.look()
        self.job(1, b"end")
        self.catch_up.changed(1)
        self.clock.advance(CHECK_DELAY)
        self.assertEqual(self.there["job-1"], b"old")
        self.held.callback(None)
        self.clock.advance(0)
        self.assertEqual(self.there["job-1"], b"end")
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_start_over(self) -> None:
        """In a new term who has everything is compared again, and so is at once who waits for the next try."""
        self.catch_up.look()
        self.assertEqual(self.rest, 1)
        self.catch_up.start_over()
        self.assertEqual(self.rest, 2)
        self.down = True
        self.catch_up.start_over()
        self.down = False
        self.catch_up.start_over()
        self.assertEqual((self.rest, self.clock.getDelayedCalls()), (3, []))

    def test_start_over_while_it_is_served(self) -> None:
        """What was begun in the old term is done once more."""
        self.held = Deferred()
        self.catch_up.look()
        self.catch_up.start_over()
        self.assertEqual(self.rest, 1)
        self.held.callback(None)
        self.clock.advance(FIRST_PAUSE)
        self.assertEqual((self.rest, self.clock.getDelayedCalls()), (2, []))

    def test_not_a_candidate_any_more(self) -> None:
        """One that loses the role gets nothing more, and is not tried."""
        self.job(1, b"a")
        self.down = True
        self.catch_up.look()
        self.candidates = []
        self.down = False
        self.clock.advance(10 * LAST_PAUSE)
        self.assertEqual(self.there, {})
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_offline(self) -> None:
        """An offline node is sent nothing; when it is back it need not wait for a pause."""
        self.candidates = [NodeAddress("node1", "192.0.2.1", offline=True)]
        self.job(1, b"a")
        self.catch_up.look()
        self.clock.advance(1000)
        self.assertEqual(self.nodes.sent, [])
        self.candidates = [ONE]
        self.catch_up.look()
        self.assertIn("job-1", self.there)

    def test_stop(self) -> None:
        """Nothing is left to happen."""
        self.down = True
        self.catch_up.changed(1)
        self.catch_up.look()
        self.catch_up.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])


class PausesTests(SynchronousTestCase):
    """Pauses on their own."""

    def test_growth(self) -> None:
        """They double up to a limit, and are short again after a success."""
        clock = Clock()
        over: list[float] = []
        pauses = Pauses(clock, lambda name: over.append(clock.seconds()))
        lengths = []
        for _ in range(9):
            began = clock.seconds()
            pauses.begin("a")
            pauses.begin("a")
            self.assertIn("a", pauses)
            clock.pump([1] * int(LAST_PAUSE))
            lengths.append(over[-1] - began)
        self.assertEqual(lengths, [5, 10, 20, *[LAST_PAUSE] * 6])
        pauses.end("a")
        pauses.begin("a")
        clock.advance(FIRST_PAUSE)
        self.assertEqual(len(over), 10)
