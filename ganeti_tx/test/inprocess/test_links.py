"""What a node says when it is asked whether interfaces can be plugged in there."""

from pathlib import Path

from msgspec import msgpack

from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.node.service import USER_MODE_MARKER
from ganeti_tx.rpc.calls.node import BridgesExist
from ganeti_tx.rpc.wire import encode_call
from ganeti_tx.runtime.process import NOT_FOUND, ProcessResult
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.network import perform

FILTERED = NicLink(mode="bridged", link="br0", vlan=".5")
SWITCH = NicLink(mode="openvswitch", link="sw1")


class LinkTests(ClusterCase):
    """Over the wire to a node daemon."""

    def answer(self, *links: NicLink, hypervisor: str = "kvm") -> str:
        """What is wrong; empty when nothing is."""
        node = self.cluster.node(2)
        dispatch = self.cluster.network.daemons[node.address].dispatch
        call = BridgesExist(bridges=[], hypervisor=hypervisor, links=[*links])
        told = self.cluster.run(perform(dispatch, call.name, encode_call(call), self.cluster.node(1).name))
        fine, said = msgpack.decode(told)
        return "" if fine else str(said)

    def test_switch(self) -> None:
        """A hypervisor that plugs in by itself looks; nobody looks for one that does not, or that is not there."""
        node = self.cluster.node(2)
        node.scripts.script(["ovs-vsctl"], ProcessResult(status=NOT_FOUND))
        for hypervisor in ("kvm", "lxc"):
            self.assertIn("install openvswitch-switch", self.answer(SWITCH, hypervisor=hypervisor))
        for hypervisor in ("fake", "none", ""):
            self.assertEqual(self.answer(SWITCH, hypervisor=hypervisor), "")
        node.scripts.script(["ovs-vsctl"], ProcessResult(status=2))
        self.assertIn("'ovs-vsctl add-br sw1' makes it", self.answer(SWITCH))
        node.scripts.script(["ovs-vsctl"], ProcessResult())
        self.assertEqual(self.answer(SWITCH), "")

    def test_without_bridges(self) -> None:
        """A node that does without bridges does without their VLANs."""
        node = self.cluster.node(2)
        node.scripts.script(["ip", "-details"], ProcessResult(stdout=b"3: br0: <UP> vlan_filtering 0"))
        self.assertIn("vlan_filtering 1", self.answer(FILTERED))
        put(node.disk, Path("/etc/ganeti") / USER_MODE_MARKER, b"")
        self.assertEqual(self.answer(FILTERED), "")
