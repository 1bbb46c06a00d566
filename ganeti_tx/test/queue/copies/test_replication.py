"""Copies of job files: what is sent, when, and who hears of it."""

from itertools import count
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import LogLevel, capturedLogs
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.queue.copies.replication import MAX_BATCH, MAX_WAITING, TIMEOUT, Replicator
from ganeti_tx.rpc.calls.queue import JobqueueUpdate
from ganeti_tx.rpc.interfaces import INodeRpc, NodeUnreachableError

ONE, TWO, THREE = (NodeAddress(f"node{number}", f"192.0.2.{number}") for number in (1, 2, 3))
#: More than half of what one call carries.
HALF = b"x" * (MAX_BATCH // 2 + 1)


@implementer(INodeRpc)
class PatientNodes:
    """Nodes that answer when the test says so."""

    def __init__(self) -> None:
        self.sequences: list[list[int]] = []
        self.calls: list[tuple[str, list[str], Deferred[None]]] = []

    async def call(self, node: Any, call: Any, timeout: float | None = None) -> Any:
        """As INodeRpc says."""
        assert isinstance(call, JobqueueUpdate)
        self.sequences.append(call.sequences)
        answer: Deferred[None] = Deferred()
        self.calls.append((node.name, [f"{name}={data[:9]}" for name, data in call.files], answer))
        await answer

    async def call_many(self, nodes: Any, call: Any, timeout: float | None = None) -> Any:
        """Not needed here."""
        raise AssertionError("one node at a time")

    def take(self) -> None:
        """The oldest call succeeds."""
        self.calls.pop(0)[2].callback(None)

    def refuse(self) -> None:
        """The oldest call fails."""
        self.calls.pop(0)[2].errback(Failure(NodeUnreachableError("node is away")))

    @property
    def sent(self) -> list[tuple[str, list[str]]]:
        """What is under way: nodes and files."""
        return [(name, files) for name, files, _ in self.calls]


class ReplicatorTests(SynchronousTestCase):
    """Replicator over nodes that answer on demand."""

    def setUp(self) -> None:
        """One candidate."""
        self.nodes = PatientNodes()
        self.candidates = [ONE]
        self.shut: list[str] = []
        self.clock, self.moved = Clock(), list[list[str]]()
        self.replicator = Replicator(
            self.nodes, lambda: self.candidates, count(1).__next__, self.shut.append, self.clock,
            lambda names: self.moved.append(sorted(names)),
        )  # fmt: skip

    def send(self, **files: bytes) -> Deferred[bool]:
        """Send to the one candidate."""
        (answer,) = self.replicator.send({name.replace("_", "-"): data for name, data in files.items()})
        return answer

    def replicate(self, **files: bytes) -> Deferred[None]:
        """Send and wait for all."""
        return Deferred.fromCoroutine(
            self.replicator.replicate({name.replace("_", "-"): data for name, data in files.items()})
        )

    def test_one_transfer_at_a_time(self) -> None:
        """While a transfer runs, what changes is collected; of each file the newest state goes out next."""
        first = self.send(job_1=b"a")
        second, third = self.send(job_1=b"b", serial=b"2"), self.send(job_1=b"c")
        self.assertEqual(self.nodes.sent, [("node1", ["job-1=a"])])
        self.nodes.take()
        self.assertTrue(self.successResultOf(first))
        self.assertNoResult(second)
        self.assertEqual(self.nodes.sent, [("node1", ["job-1=c", "serial=2"])])
        self.nodes.take()
        self.assertTrue(self.successResultOf(second))
        self.assertTrue(self.successResultOf(third))
        self.assertEqual(self.nodes.sent, [])

    def test_slow_node_holds_nobody_up(self) -> None:
        """Each candidate has its own transfers."""
        self.candidates = [ONE, TWO]
        one, two = self.replicator.send({"job-1": b"a"})
        self.nodes.calls.reverse()
        self.nodes.take()
        self.assertTrue(self.successResultOf(two))
        self.assertNoResult(one)
        self.nodes.take()
        self.assertTrue(self.successResultOf(one))

    def test_large_files_travel_apart(self) -> None:
        """What is too much for one call goes in several; who waits hears once, after the last."""
        answer = self.send(job_1=HALF, job_2=HALF, job_3=b"c")
        self.nodes.take()
        self.assertNoResult(answer)
        self.nodes.take()
        self.assertTrue(self.successResultOf(answer))
        self.assertEqual(self.nodes.sent, [])

    def test_failed_part(self) -> None:
        """When a part was not taken, the rest is not sent, and all who wait hear it."""
        answer = self.send(job_1=HALF, job_2=HALF)
        later = self.send(job_3=b"c")
        self.nodes.refuse()
        self.assertFalse(self.successResultOf(answer))
        self.assertFalse(self.successResultOf(later))
        self.assertEqual(self.nodes.sent, [])

    def test_left_alone(self) -> None:
        """A node that did not take a file is sent nothing and holds nobody up until it is opened again."""
        self.send(job_1=b"a")
        self.nodes.refuse()
        self.assertEqual((self.shut, self.replicator.behind), (["node1"], {"node1"}))
        self.assertFalse(self.successResultOf(self.send(job_1=b"b")))
        self.assertEqual(self.nodes.sent, [])
        self.replicator.reopen("node1")
        answer = self.send(job_1=b"c")
        self.assertEqual(self.nodes.sent, [("node1", ["job-1=c"])])
        self.nodes.take()
        self.assertTrue(self.successResultOf(answer))

    def test_no_answer(self) -> None:
        """A node that does not answer is waited for only so long, and only once until it answers."""
        first = self.replicate(job_1=b"a")
        self.clock.advance(TIMEOUT - 0.1)
        self.assertNoResult(first)
        self.clock.advance(0.1)
        self.successResultOf(first)
        self.assertEqual((self.moved, self.shut), ([["node1"]], []))
        self.successResultOf(self.replicate(job_2=b"b"))
        self.nodes.take()
        self.assertEqual(self.nodes.sent, [("node1", ["job-2=b"])])
        self.assertEqual(self.moved, [["node1"], []])
        self.assertNoResult(self.replicate(job_3=b"c"))

    def test_no_answer_at_all(self) -> None:
        """When the transfer fails in the end, the node is left alone; while it is caught up nobody waits for it either."""
        self.successResultOf(self.replicate_for(TIMEOUT))
        self.nodes.refuse()
        self.assertEqual((self.shut, self.replicator.behind), (["node1"], {"node1"}))
        self.replicator.reopen("node1")
        self.successResultOf(self.replicate(job_2=b"b"))
        self.assertEqual(self.nodes.sent, [("node1", ["job-2=b"])])
        self.nodes.take()
        self.assertEqual(self.moved, [["node1"]])
        self.replicator.caught_up("node1")
        self.assertEqual(self.moved, [["node1"], []])
        self.assertNoResult(self.replicate(job_3=b"c"))

    def replicate_for(self, seconds: float) -> Deferred[None]:
        """The same, and so much time passes."""
        done = self.replicate(job_1=b"a")
        self.clock.advance(seconds)
        return done

    def test_too_much_waits(self) -> None:
        """When too much waits for a node that does not answer, it is left alone; what is under way may still arrive."""
        self.successResultOf(self.replicate_for(TIMEOUT))
        for number in range(2 * MAX_WAITING // MAX_BATCH - 1):
            self.assertEqual(self.shut, [])
            self.successResultOf(self.replicate(job_9=HALF))  # the same again takes no more room
            self.successResultOf(self.replicate(**{f"job_{number + 10}": HALF}))
        self.assertEqual((self.shut, self.replicator.behind), (["node1"], {"node1"}))
        self.nodes.take()
        self.assertEqual(self.nodes.sent, [])
        self.replicator.reopen("node1")
        self.send(job_2=b"b")
        self.assertEqual(self.nodes.sent, [("node1", ["job-2=b"])])

    def test_told(self) -> None:
        """Whom others do not wait for is not waited for, but sent what there is; that it fails they have said."""
        self.replicator.told(["node1"])
        with capturedLogs() as logged:
            self.successResultOf(self.replicate(job_1=b"a"))
        self.assertEqual(len(logged), 0)
        self.assertEqual(self.nodes.sent, [("node1", ["job-1=a"])])
        self.replicator.told([])
        self.assertNoResult(self.replicate(job_1=b"b"))

    def test_offline(self) -> None:
        """An offline candidate is sent nothing."""
        self.candidates = [NodeAddress("node1", "192.0.2.1", offline=True)]
        self.assertFalse(self.successResultOf(self.send(job_1=b"a")))
        self.assertEqual(self.nodes.sent, [])

    def test_sequences(self) -> None:
        """Each file carries the moment from which it is so, also when it has to wait."""
        self.send(job_1=b"a")
        self.send(job_2=b"b")
        self.send(job_1=b"c")
        self.nodes.take()
        self.assertEqual(self.nodes.sequences, [[1], [2, 3]])

    def test_said_once(self) -> None:
        """That a node fails is said when it begins and when it ends; that most do, as an error."""
        with capturedLogs() as logged:
            for _ in range(3):
                self.replicator.reopen("node1")
                done = self.replicate(job_1=b"a")
                self.nodes.refuse()
                self.successResultOf(done)
            self.replicator.reopen("node1")
            self.replicator.caught_up("node1")
            done = self.replicate(job_1=b"a")
            self.nodes.take()
            self.successResultOf(done)
        levels = [event["log_level"] for event in logged]
        self.assertEqual(levels, [LogLevel.info, LogLevel.error, LogLevel.info, LogLevel.info])

    def test_nobody_to_tell(self) -> None:
        """A cluster of one node has no copies."""
        self.candidates = []
        self.successResultOf(self.replicate(job_1=b"a"))

    def errors_after(self, failed: int) -> int:
        """How many errors are logged when so many of three candidates fail."""
        self.candidates = [ONE, TWO, THREE]
        with capturedLogs() as logged:
            done = self.replicate(job_1=b"a")
            for number in range(3):
                answer = self.nodes.refuse if number < failed else self.nodes.take
                answer()
            self.successResultOf(done)
        return sum(event["log_level"] is LogLevel.error for event in logged)

    def test_minority(self) -> None:
        """One candidate of three that fails is no error."""
        self.assertEqual(self.errors_after(1), 0)

    def test_majority(self) -> None:
        """More than half of them is an error in the log; the job goes on."""
        self.assertEqual(self.errors_after(2), 1)

    def test_fault_of_ours(self) -> None:
        """Bytes that are no text leave nobody waiting, and the next files go out."""
        broken = self.send(job_1=b"\xff")
        self.assertFalse(self.successResultOf(broken))
        self.assertEqual(len(self.flushLoggedErrors(UnicodeDecodeError)), 1)
        good = self.send(job_2=b"a")
        self.nodes.take()
        self.assertTrue(self.successResultOf(good))
