"""Networks of instances that want more of a kernel than this machine's may have."""

from pathlib import Path

import msgspec

from ganeti_tx.node.hypervisor.kvm.network import Network, TapOptions
from ganeti_tx.node.hypervisor.nics.node_ends import NodeEnds
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd
from ganeti_tx.node.hypervisor.nics.scripts import NoScripts
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.lab.case import Chosen, LabCase, runner_on
from ganeti_tx.test.node.hypervisor.kvm.parts import NIC, kvm_spec

BRIDGE = "brv"
MAKE = f"ip link add {BRIDGE} type bridge vlan_filtering 1"
REMOVE = f"ip link del {BRIDGE}"


class VlanTests(Chosen, LabCase):
    """A bridge that keeps VLANs apart."""

    always = frozenset({"test_members"})

    async def vlans(self, vlan: str) -> list[str]:
        """The words that the bridge has for the tap of an interface with these VLANs; the tap is gone afterwards."""
        network = Network(Paths(Path(self.mktemp()).absolute()), RealFiles(InlineThreads()), runner_on(1))
        spec = kvm_spec([msgspec.structs.replace(NIC, link=BRIDGE, vlan=vlan)])
        planned = await network.plan(spec)
        await network.connect(planned, TapOptions())
        shown = self.machines[0].run(f"bridge vlan show dev {planned[0].tap}").split()
        await network.release(planned)
        self.assertNotEqual(self.machines[0].ended(f"ip link show {planned[0].tap}").returncode, 0)
        return [word for word in shown if word.isdigit() or word in ("PVID", "Untagged")]

    async def test_members(self) -> None:
        """A tap is in its VLANs and no longer in the default one; without VLANs it is in that alone."""
        self.machines[0].run(MAKE)
        self.addCleanup(self.machines[0].run, REMOVE)
        self.assertEqual(await self.vlans(".5:6"), ["5", "PVID", "Untagged", "6"])
        self.assertEqual(await self.vlans(":6:7"), ["6", "7"])
        self.assertEqual(await self.vlans(""), ["1", "PVID", "Untagged"])

    async def test_frames(self) -> None:
        """Guests reach each other within their VLAN: untagged as their port has it, by tags on a trunk, and not beyond it."""
        machine, names = self.machines[0], [f"guest{number}" for number in range(4)]
        machine.run(MAKE)
        self.addCleanup(machine.run, REMOVE)
        machine.run(f"ip link set {BRIDGE} up")
        ends = NodeEnds(runner_on(1), NoScripts())
        for number, (name, vlan) in enumerate(zip(names, (".5", "5", ".6", ".5:6"), strict=True)):
            machine.run(f"ip netns add {name} && ip link add tap{number} type veth peer name eth0 netns {name}")
            self.addCleanup(machine.run, f"ip netns del {name}")
            machine.run(f"ip -n {name} link set eth0 up && ip -n {name} address add 10.5.0.{number + 10}/24 dev eth0")
            told = {"INTERFACE": f"tap{number}", "MODE": "bridged", "LINK": BRIDGE, "VLAN": vlan, "MAC": ""}
            await ends.connect(NodeEnd(told))
        trunk = f"ip -n {names[3]} link"
        machine.run(f"{trunk} add link eth0 name tagged type vlan id 6 && {trunk} set tagged up")
        machine.run(f"ip -n {names[2]} address add 10.6.0.2/24 dev eth0")
        machine.run(f"ip -n {names[3]} address add 10.6.0.3/24 dev tagged")
        for name, address in (("guest0", "10.5.0.11"), ("guest0", "10.5.0.13"), ("guest3", "10.6.0.2")):
            machine.run(f"ip netns exec {name} ping -c 1 -w 60 {address}")
        for name, address in (("guest0", "10.5.0.12"), ("guest2", "10.5.0.11")):
            self.assertNotEqual(machine.ended(f"ip netns exec {name} ping -c 2 -w 5 {address}").returncode, 0)
