"""Stamps on node calls."""

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.mastership.term import MasterTerm, Stamps
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.calls.queue import JobqueuePurge
from ganeti_tx.rpc.interfaces import NodeOfflineError
from ganeti_tx.rpc.stamped import StampedRpc
from ganeti_tx.test.fakes.rpc import FakeNodeRpc

HERE, THERE = NodeAddress("node1", "192.0.2.1"), NodeAddress("node2", "192.0.2.2")


class StampedTests(SynchronousTestCase):
    """StampedRpc over nodes that note what they get."""

    def setUp(self) -> None:
        self.nodes = FakeNodeRpc()
        self.nodes.succeed(JobqueuePurge)
        self.nodes.answer(Version, 1)
        self.rpc = StampedRpc(
            self.nodes, Stamps(MasterTerm(cluster="c", master="m", number=3), iter(range(9)).__next__)
        )

    def test_stamped(self) -> None:
        """Calls with room for a stamp get one, the same for all nodes; one that has it keeps it; others are as they were."""
        given = Stamp(cluster="x", master="y", term=1, sequence=1)
        self.successResultOf(Deferred.fromCoroutine(self.rpc.call_many([HERE, THERE], JobqueuePurge())))
        for call in (JobqueuePurge(), JobqueuePurge(stamp=given), Version()):
            self.successResultOf(Deferred.fromCoroutine(self.rpc.call(HERE, call)))
        first, second = (Stamp(cluster="c", master="m", term=3, sequence=number) for number in (1, 2))
        self.assertEqual(
            [call for _, call in self.nodes.sent],
            [
                JobqueuePurge(stamp=first),
                JobqueuePurge(stamp=first),
                JobqueuePurge(stamp=second),
                JobqueuePurge(stamp=given),
                Version(),
            ],
        )

    def test_offline(self) -> None:
        """An offline node is sent nothing."""
        away = NodeAddress("node3", "192.0.2.3", offline=True)
        self.failureResultOf(Deferred.fromCoroutine(self.rpc.call(away, JobqueuePurge())), NodeOfflineError)
        self.assertEqual(self.nodes.sent, [])
