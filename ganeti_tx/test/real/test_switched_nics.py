"""Interfaces on an Open vSwitch, which runs without its module of the kernel: frames come where their VLAN is."""

from pathlib import Path
from tempfile import mkdtemp

from twisted.python.filepath import FilePath

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.node.hypervisor.nics.node_ends import STOP, NodeEnds
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd
from ganeti_tx.node.hypervisor.nics.scripts import UserScripts
from ganeti_tx.node.open_vswitch import OwnSwitch
from ganeti_tx.rpc.calls.open_vswitch import NodeConfigureOvs
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.real.frames import Wire, passes
from ganeti_tx.test.real.namespaces import NamespaceCase
from ganeti_tx.test.real.open_vswitch import OpenVSwitch, check_installed


class SwitchedTests(NamespaceCase):
    """A node with a switch, and guests in VLANs."""

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        check_installed()
        self.node = await self.new_namespace("n")
        directory = Path(mkdtemp(prefix="ovs"))  # short: sockets' names lie in it
        self.addCleanup(FilePath(str(directory)).remove)
        switch = OpenVSwitch(self.node, directory)
        self.addCleanup(switch.end)
        await switch.begin()
        await switch.new_switch("sw1")
        self.ends = NodeEnds(self.node, UserScripts(RealFiles(InlineThreads()), Paths(directory), "kvm"))

    async def plug(self, number: int, vlan: str) -> tuple[NodeEnd, Wire]:
        """A guest whose interface has these VLANs."""
        guest = await self.new_neighbour(self.node, f"g{number}", f"tap{number}")
        end = NodeEnd({"INTERFACE": f"tap{number}", "MODE": "openvswitch", "LINK": "sw1", "VLAN": vlan})
        for _ in range(2):  # a port that was left there before is in nobody's way
            await self.ends.connect(end)
        wire = Wire.at(guest)
        self.addCleanup(wire.socket.close)
        return end, wire

    async def test_vlans(self) -> None:
        """Frames pass within their VLAN: untagged where a port has it so, tagged on trunks, and nowhere else."""
        made = [await self.plug(number, vlan) for number, vlan in enumerate((".5", "5", ".6", ".5:6", ":6:7"))]
        five, other, six, both, trunk = (wire for _, wire in made)
        for number, (sender, vlan, receiver, arrives) in enumerate(
            (
                (five, None, other, None),
                (both, None, five, None),
                (both, 6, six, None),
                (six, None, both, 6),
                (trunk, 6, six, None),
                (six, None, trunk, 6),
            )
        ):
            self.assertTrue(await passes(sender, vlan, receiver, arrives, b"text%d" % number), number)
        self.assertEqual({text for text, _ in six.listen() | trunk.listen()} & {b"text0", b"text1"}, set())
        self.assertEqual({text for text, _ in five.listen() | other.listen()} - {b"text0", b"text1"}, set())
        for end, _ in made:
            await self.ends.disconnect(end, STOP)
        self.assertEqual(await self.node.does("ovs-vsctl list-ports sw1"), "")

    async def test_missing(self) -> None:
        """A switch that is not there is named, with what makes it."""
        await self.ends.check_link(NicLink(mode="openvswitch", link="sw1"))
        with self.assertRaises(HypervisorError) as caught:
            await self.ends.check_link(NicLink(mode="openvswitch", link="sw2"))
        self.assertIn("switch sw2 is not on this node; 'ovs-vsctl add-br sw2' makes it", str(caught.exception))

    async def test_own_switch(self) -> None:
        """A node has its switch with a device in it, as often as it is asked; a device that others need is left alone."""
        own = OwnSwitch(self.node)
        await self.new_neighbour(self.node, "o", "eth1")
        await self.node.does("ip link add name eth2 type veth peer name eth3")
        await self.node.does("ip address add 192.0.2.1/24 dev eth2")
        for _ in range(2):
            await own.configure(NodeConfigureOvs(ovs_name="sw1", ovs_link="eth1"))
        self.assertEqual(await self.node.does("ovs-vsctl list-ports sw1"), "eth1\n")
        await own.configure(NodeConfigureOvs(ovs_name="sw1", ovs_link=""))
        for name, device, words in (
            ("sw1", "eth9", "device eth9 is not on this node"),
            ("sw1", "eth2", "has the address 192.0.2.1"),
            ("sw2", "eth1", "is in switch sw1 already"),
            ("-x", "", "'-x'"),
            ("sw1", "a b", "'a b'"),
        ):
            with self.assertRaises(HypervisorError) as caught:
                await own.configure(NodeConfigureOvs(ovs_name=name, ovs_link=device))
            self.assertIn(words, str(caught.exception))
        self.assertEqual(await self.node.does("ovs-vsctl list-br"), "sw1\n")
