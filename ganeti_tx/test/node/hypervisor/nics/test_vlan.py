"""VLANs of taps."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.vlan import Vlan
from ganeti_tx.node.hypervisor.nics.switches import plug_argv
from ganeti_tx.node.hypervisor.nics.vlan import bridge_vlan_argvs, parse_vlan


class VlanTests(SynchronousTestCase):
    """Text to commands."""

    def test_forms(self) -> None:
        """Untagged, tagged, both, none."""
        self.assertEqual(parse_vlan(""), Vlan())
        self.assertEqual((parse_vlan(".5"), parse_vlan("5")), (Vlan(5), Vlan(5)))
        self.assertEqual(parse_vlan(":5:6"), Vlan(None, (5, 6)))
        self.assertEqual(parse_vlan(".5:6"), Vlan(5, (6,)))

    def test_bad(self) -> None:
        """Anything else is refused, and shown."""
        for text in (".", ":", ".0", ".4095", ":a", "..5", ".5:", "5;rm"):
            self.assertIn(repr(text), str(self.assertRaises(HypervisorError, parse_vlan, text)))

    def test_bridge(self) -> None:
        """On a bridge the tap leaves the default VLAN and joins its own; without VLANs nothing is done."""
        self.assertEqual(bridge_vlan_argvs("tap0", Vlan(), 1), [])
        removed, untagged, tagged = bridge_vlan_argvs("tap0", Vlan(5, (6,)), 1)
        self.assertEqual(removed[:3], ["bridge", "vlan", "del"])
        self.assertEqual(untagged[5:], ["vid", "5", "pvid", "untagged"])
        self.assertEqual(tagged[5:], ["vid", "6"])
        for default, vlan in ((0, Vlan(5)), (5, Vlan(5)), (5, Vlan(None, (5,)))):  # there is none to leave
            self.assertEqual([argv[2] for argv in bridge_vlan_argvs("tap0", vlan, default)], ["add"])
        self.assertEqual(bridge_vlan_argvs("tap0", Vlan(5), 7)[0][-1], "7")

    def test_openvswitch(self) -> None:
        """On Open vSwitch the port carries the VLANs."""
        for vlan, settings in (
            (Vlan(), []),
            (Vlan(5), ["tag=5"]),
            (Vlan(None, (6,)), ["trunks=6", "vlan_mode=trunk"]),
            (Vlan(5, (6, 7)), ["tag=5", "trunks=6,7", "vlan_mode=native-untagged"]),
        ):
            argv = plug_argv("sw", "tap0", vlan)
            self.assertEqual(argv[argv.index("--") + 1 : -1], ["add-port", "sw", "tap0", *settings])
