"""What candidates are told of the archive and the drain flag."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.queue.copies.queue_copies import MAX_RENAMES, QueueCopies
from ganeti_tx.queue.copies.replication import TIMEOUT
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.queue import JobqueueRename, JobqueueSetDrainFlag, JobqueueSweep
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.fakes.rpc import FakeNodeRpc

ONE, TWO = NodeAddress("node1", "192.0.2.1"), NodeAddress("node2", "192.0.2.2")


def rename(job_id: int) -> tuple[str, str]:
    """A job's way to the archive."""
    return f"job-{job_id}", f"archive/0/job-{job_id}"


class SlowNodes(FakeNodeRpc):
    """Nodes that answer when they are let."""

    waiting: list[Deferred[None]]

    async def perform(self, node: str, call: NodeCall[object]) -> object:
        """Later."""
        let: Deferred[None] = Deferred()
        self.waiting.append(let)
        await let
        return None


class CopiesTests(SynchronousTestCase):
    """Two candidates."""

    def setUp(self) -> None:
        """Jobs 3 and 9 are live, 11 was the last number; the flag is set."""
        self.nodes = FakeNodeRpc()
        self.nodes.succeed(JobqueueRename, JobqueueSetDrainFlag, JobqueueSweep)
        self.behind: set[str] = set()
        self.lagging: set[str] = set()
        self.clock = Clock()
        self.copies = self.over(self.nodes)

    def over(self, nodes: FakeNodeRpc) -> QueueCopies:
        """Copies on these nodes."""
        return QueueCopies(
            nodes, lambda: [ONE, TWO], lambda name, error: self.behind.add(name), self.live, lambda: True,
            self.clock, lambda: self.lagging,
        )  # fmt: skip

    async def live(self) -> tuple[list[int], int]:
        """The live jobs."""
        return [3, 9], 11

    def now(self, work: Any) -> Any:
        """The result of what waits for nothing."""
        return self.successResultOf(Deferred.fromCoroutine(work))

    def test_together(self) -> None:
        """While a call is under way, what is archived meanwhile waits and travels in the next one; each node for itself."""
        nodes = SlowNodes()
        nodes.waiting = []
        copies = self.over(nodes)
        for job_id in (1, 2, 3):
            copies.rename([rename(job_id)])
        first = JobqueueRename(renames=[rename(1)])
        self.assertEqual(nodes.sent, [("node1", first), ("node2", first)])
        nodes.waiting[1].callback(None)
        self.assertEqual(nodes.sent[2:], [("node2", JobqueueRename(renames=[rename(2), rename(3)]))])
        nodes.waiting[2].callback(None)
        copies.rename([rename(4)])
        self.assertEqual(nodes.sent[3:], [("node2", JobqueueRename(renames=[rename(4)]))])

    def test_many(self) -> None:
        """No call has more than so many."""
        self.copies.rename([rename(job_id) for job_id in range(1, 2 * MAX_RENAMES + 2)])
        sizes = [len(call.renames) for call in self.nodes.of_kind(JobqueueRename)]
        self.assertEqual(sizes, [MAX_RENAMES, MAX_RENAMES, 1] * 2)

    def test_missed(self) -> None:
        """A candidate that takes a call not is behind, and is not bothered with the rest."""
        self.nodes.fail(JobqueueRename, "is away")
        self.copies.rename([rename(job_id) for job_id in range(1, MAX_RENAMES + 2)])
        self.assertEqual(self.behind, {"node1", "node2"})
        self.assertEqual(len(self.nodes.sent), 2)
        self.nodes.succeed(JobqueueRename)
        self.copies.rename([rename(5)])
        self.assertEqual(
            self.nodes.sent[2:], [(name, JobqueueRename(renames=[rename(5)])) for name in ("node1", "node2")]
        )

    def test_complete(self) -> None:
        """A candidate is put right by the list of live jobs and the flag."""
        self.assertTrue(self.now(self.copies.complete(TWO)))
        expected = [("node2", JobqueueSweep(live=[3, 9], up_to=11)), ("node2", JobqueueSetDrainFlag(drained=True))]
        self.assertEqual(self.nodes.sent, expected)

    def test_not_complete(self) -> None:
        """One that does not take it is still behind."""
        for kind in (JobqueueSetDrainFlag, JobqueueSweep):
            self.behind.clear()
            self.nodes.fail(kind, "is away")
            self.assertFalse(self.now(self.copies.complete(TWO)))
            self.assertEqual(self.behind, {"node2"})

    def test_drain_flag_without_an_answer(self) -> None:
        """Who does not answer is waited for only so long, and not at all when it is known to lag."""
        nodes = SlowNodes()
        nodes.waiting = []
        copies = self.over(nodes)
        done = Deferred.fromCoroutine(copies.tell_drained(True))
        self.clock.advance(TIMEOUT - 0.1)
        self.assertNoResult(done)
        self.clock.advance(0.1)
        self.successResultOf(done)
        self.lagging = {"node2"}
        done = Deferred.fromCoroutine(copies.tell_drained(False))
        self.assertEqual(len(nodes.sent), 4)
        nodes.waiting[2].callback(None)
        self.clock.advance(0)
        self.successResultOf(done)
        nodes.waiting[3].errback(NodeUnreachableError("is away"))
        self.assertEqual(self.behind, {"node2"})

    def test_drain_flag(self) -> None:
        """Everybody is told; who did not hear is behind, and that is no error."""
        self.nodes.fail(JobqueueSetDrainFlag, "is away")
        self.now(self.copies.tell_drained(False))
        self.assertEqual(self.nodes.sent, [(name, JobqueueSetDrainFlag(drained=False)) for name in ("node1", "node2")])
        self.assertEqual(self.behind, {"node1", "node2"})
