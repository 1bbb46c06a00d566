"""Interfaces on an Open vSwitch, which runs without its module of the kernel: frames come where their VLAN is."""

from pathlib import Path
from tempfile import mkdtemp

from twisted.python.filepath import FilePath

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.node.hypervisor.nics.node_ends import STOP, NodeEnds
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd
from ganeti_tx.node.hypervisor.nics.scripts import UserScripts
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
