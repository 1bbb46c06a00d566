"""Networks of instances that want more of a kernel than this machine's may have."""

from pathlib import Path

import msgspec

from ganeti_tx.node.hypervisor.kvm.network import Network, TapOptions
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.lab.case import LabCase, runner_on
from ganeti_tx.test.node.hypervisor.kvm.parts import NIC, kvm_spec

BRIDGE = "brv"
MAKE = f"ip link add {BRIDGE} type bridge vlan_filtering 1"
REMOVE = f"ip link del {BRIDGE}"


class VlanTests(LabCase):
    """A bridge that keeps VLANs apart."""

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
