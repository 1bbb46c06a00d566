"""The cluster's address goes with the master daemons."""

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.logger import capturedLogs, formatEvent
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.election.address import MasterAddress
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeDeactivateMasterIp
from ganeti_tx.test.election.nodes import three_nodes
from ganeti_tx.test.fakes.rpc import FakeNodeRpc


class MasterAddressTests(SynchronousTestCase):
    """MasterAddress on node1."""

    def setUp(self) -> None:
        """A node daemon that does what it is asked."""
        self.rpc = FakeNodeRpc()
        self.rpc.succeed(NodeActivateMasterIp, NodeDeactivateMasterIp)
        self.address = MasterAddress(self.rpc, "node1")

    def test_own_node(self) -> None:
        """It is taken on this node and given up on this node, even when another one is the master by then."""
        config = three_nodes()
        self.successResultOf(Deferred.fromCoroutine(self.address.take(config)))
        overtaken = replace(config, cluster=replace(config.cluster, master_node="uuid-node2"))
        self.successResultOf(Deferred.fromCoroutine(self.address.give_up(overtaken)))
        sent = [(node, type(call)) for node, call in self.rpc.sent]
        self.assertEqual(sent, [("node1", NodeActivateMasterIp), ("node1", NodeDeactivateMasterIp)])

    def test_failure(self) -> None:
        """What fails is one warning: the daemons run without the address."""
        self.rpc.fail(NodeActivateMasterIp, "Operation not permitted")
        with capturedLogs() as logged:
            self.successResultOf(Deferred.fromCoroutine(self.address.take(three_nodes())))
        (line,) = [str(formatEvent(event)) for event in logged]
        self.assertIn("Operation not permitted", line)
