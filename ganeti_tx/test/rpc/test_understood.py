"""What is told to older nodes."""

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.versions import DISK_FORMATS_SINCE
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevRemove, BlockdevStates
from ganeti_tx.rpc.calls.instance import InstanceStart
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.interfaces import NodeCallError, NodeOfflineError
from ganeti_tx.rpc.understood import UnderstoodRpc
from ganeti_tx.test.fakes.rpc import FakeNodeRpc

NODE = NodeAddress("node2", "192.0.2.2")
RAW = DiskSpec(uuid="raw", dev_type="file", size=1, logical_id=["loop", "/srv/raw"])
IMAGE = DiskSpec(uuid="image", dev_type="file", size=1, logical_id=["loop", "/srv/image"], params={"format": "qcow2"})


def start(*disks: DiskSpec) -> InstanceStart:
    """An instance with these is started."""
    spec = InstanceSpec(
        name="web1", uuid="web1", primary_node="node2", hypervisor="kvm", os="noop", hvparams={}, beparams={},
        disks=list(disks),
    )  # fmt: skip
    return InstanceStart(instance=spec)


class UnderstoodTests(SynchronousTestCase):
    """UnderstoodRpc over a node that notes what it gets."""

    def setUp(self) -> None:
        self.nodes = FakeNodeRpc()
        self.nodes.succeed(BlockdevRemove, InstanceStart)
        self.nodes.answer(BlockdevStates, [])
        self.rpc = UnderstoodRpc(self.nodes)

    def send(self, call: NodeCall[object], node: NodeAddress = NODE) -> "Deferred[object]":
        """To the node."""
        self.nodes.sent.clear()
        return Deferred.fromCoroutine(self.rpc.call(node, call))

    def test_older(self) -> None:
        """A disk of a format, wherever it stands in a call, does not reach it, but to be let go; others do, without a question."""
        self.nodes.answer(Version, DISK_FORMATS_SINCE - 1)
        ready = BlockdevAssemble(disk=IMAGE, owner="web1", hypervisor="kvm")
        for call in (start(RAW, IMAGE), ready, BlockdevStates(disks=[RAW, IMAGE])):
            error = self.failureResultOf(self.send(call), NodeCallError).value
            self.assertIn("to node node2, which runs an older version that takes disks of format qcow2 for", str(error))
            self.assertEqual(self.nodes.kinds(), ["version"])
        for allowed in (start(RAW), BlockdevRemove(disk=IMAGE, owner="web1"), BlockdevStates(disks=[RAW])):
            self.successResultOf(self.send(allowed))
            self.assertEqual(self.nodes.kinds(), [allowed.name])

    def test_many(self) -> None:
        """One that is too old keeps the others from nothing."""
        self.nodes.answers[Version] = lambda node, call: DISK_FORMATS_SINCE - (node == "node2")
        other = NodeAddress("node3", "192.0.2.3")
        found = self.successResultOf(Deferred.fromCoroutine(self.rpc.call_many([NODE, other], start(IMAGE))))
        self.assertEqual(
            {name: outcome.error is None for name, outcome in found.items()}, {"node2": False, "node3": True}
        )

    def test_offline(self) -> None:
        """An offline node is asked nothing, and what is said of it is of the call itself."""
        away = NodeAddress("node3", "192.0.2.3", offline=True)
        self.failureResultOf(self.send(start(IMAGE), away), NodeOfflineError)
        self.assertEqual(self.nodes.sent, [])
