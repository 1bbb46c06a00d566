"""What a test that says nothing of nodes gets from them."""

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.rpc.calls.disk import BlockdevFind
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError
from ganeti_tx.test.fakes.rpc import FakeNodeRpc, NotScripted

HERE = NodeAddress("node1", "192.0.2.1")
DISK = DiskSpec(uuid="disk", dev_type="file", size=1, logical_id=["loop", "/srv/disk"])


class FakeTests(SynchronousTestCase):
    """FakeNodeRpc."""

    def setUp(self) -> None:
        self.nodes = FakeNodeRpc()

    def ask(self) -> "Deferred[int]":
        """One call."""
        return Deferred.fromCoroutine(self.nodes.call(HERE, Version()))

    def test_not_scripted(self) -> None:
        """A call whose answer the test does not say fails the test, on many nodes, too; nobody takes it for a node's error."""
        self.failureResultOf(self.ask(), NotScripted)
        self.failureResultOf(Deferred.fromCoroutine(self.nodes.call_many([HERE], Version())), NotScripted)

    def test_wrong_type(self) -> None:
        """An answer that no node could give arrives as none."""
        self.nodes.answer(Version, "seven")
        self.failureResultOf(self.ask(), NodeUnreachableError)

    def test_wire(self) -> None:
        """A call arrives as it is decoded, and so does an error of the node's."""
        self.nodes.fail(BlockdevFind, BlockDeviceError("broken"))
        failed = self.failureResultOf(Deferred.fromCoroutine(self.nodes.call(HERE, BlockdevFind(disk=DISK))))
        assert isinstance(failed.value, NodeCallError)
        self.assertIsInstance(failed.value.cause, BlockDeviceError)
        self.assertEqual(self.nodes.sent, [("node1", BlockdevFind(disk=DISK))])
