"""Node calls that are timed and counted."""

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.metrics.nodes import CALLS, FAILURES
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, NodeOfflineError, NodeUnreachableError
from ganeti_tx.rpc.measured import MeasuredRpc
from ganeti_tx.test.fakes.rpc import FakeNodeRpc

HERE, THERE = NodeAddress("node1", "192.0.2.1"), NodeAddress("node2", "192.0.2.2")
AWAY = NodeAddress("node3", "192.0.2.3", offline=True)


class MeasuredTests(SynchronousTestCase):
    """MeasuredRpc over nodes that answer as a test wants."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.nodes = FakeNodeRpc()
        self.tally = Tally()
        self.rpc = MeasuredRpc(self.nodes, self.tally, self.clock)

    def failures(self) -> dict[tuple[str, ...], float]:
        """The failures by node, call and reason."""
        return {each.labels: each.value for each in self.tally.readings().values.get(FAILURES.name, [])}

    def calls(self) -> dict[tuple[str, ...], tuple[int, float]]:
        """How many calls were answered, and in how many seconds all together."""
        found = self.tally.readings().spreads.get(CALLS.name, [])
        return {each.labels: (sum(each.counts), each.sum) for each in found}

    def test_interface(self) -> None:
        """It is what it stands for."""
        verifyObject(INodeRpc, self.rpc)

    def test_answered(self) -> None:
        """An answer is timed from the call on, and passed on."""
        slow: Deferred[int] = Deferred()
        self.nodes.answer(Version, slow)
        asked = Deferred.fromCoroutine(self.rpc.call(HERE, Version()))
        self.clock.advance(3)
        slow.callback(7)
        self.assertEqual(self.successResultOf(asked), 7)
        self.assertEqual((self.calls(), self.failures()), ({("node1", "version"): (1, 3.0)}, {}))

    def test_failed(self) -> None:
        """A node that says no has answered in its time; one that says nothing has not; an offline one was not asked."""
        self.nodes.fail(Version, "no")
        self.failureResultOf(Deferred.fromCoroutine(self.rpc.call(HERE, Version())), NodeCallError)
        self.nodes.fail(Version, "gone", NodeUnreachableError)
        self.failureResultOf(Deferred.fromCoroutine(self.rpc.call(THERE, Version())), NodeUnreachableError)
        self.failureResultOf(Deferred.fromCoroutine(self.rpc.call(AWAY, Version())), NodeOfflineError)
        self.assertEqual(self.calls(), {("node1", "version"): (1, 0.0)})
        self.assertEqual(self.failures(), {("node1", "version", "failed"): 1, ("node2", "version", "unreachable"): 1})

    def test_given_up(self) -> None:
        """A call whose caller waits no longer is counted as such."""
        self.nodes.answer(Version, Deferred())
        asked = Deferred.fromCoroutine(self.rpc.call(HERE, Version()))
        asked.cancel()
        self.failureResultOf(asked, CancelledError)
        self.assertEqual((self.calls(), self.failures()), ({}, {("node1", "version", "given up"): 1}))

    def test_many(self) -> None:
        """Of a call on many nodes each is counted by itself, and one that fails spoils nothing."""
        self.nodes.fail(Version, "gone", NodeUnreachableError)
        refuse = self.nodes.answers[Version]
        self.nodes.answers[Version] = lambda node, call: 7 if node == "node1" else refuse(node, call)
        outcomes = self.successResultOf(Deferred.fromCoroutine(self.rpc.call_many([HERE, THERE], Version())))
        self.assertEqual(outcomes["node1"].get(), 7)
        self.assertIsInstance(outcomes["node2"].error, NodeUnreachableError)
        self.assertEqual(self.calls(), {("node1", "version"): (1, 0.0)})
        self.assertEqual(self.failures(), {("node2", "version", "unreachable"): 1})
