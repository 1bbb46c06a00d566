"""What guests say of their addresses."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.hypervisor.kvm.agent.addresses import (
    ADDRESSES_LOOKED_AT,
    MAX_ADDRESSES,
    MAX_INTERFACES,
    guest_interfaces,
)
from ganeti_tx.node.hypervisor.kvm.agent.talk import AgentSilent


def interface(*addresses: Any, **others: Any) -> dict[str, Any]:
    """As an agent tells of one."""
    told = [{"ip-address": each, "ip-address-type": "ipv4", "prefix": 24} for each in addresses]
    return {"name": "eth0", "hardware-address": "AA:00:00:00:00:01", "ip-addresses": told, **others}


class GuestInterfacesTests(SynchronousTestCase):
    """From an answer to what is shown."""

    def test_usual(self) -> None:
        """Names, MAC addresses and addresses, without those that are nobody else's business."""
        found = guest_interfaces(
            [
                interface("127.0.0.1", "::1", name="lo"),
                interface("192.0.2.7", "fe80::1", "2001:DB8::7"),
                {"name": "eth1", "hardware-address": "aa:00:00:00:00:02"},
            ]
        )
        (only,) = found.interfaces
        self.assertEqual((only.name, only.mac), ("eth0", "aa:00:00:00:00:01"))
        self.assertEqual((list(only.addresses), found.left_out), (["192.0.2.7", "2001:db8::7"], 0))

    def test_many(self) -> None:
        """So many are shown, and how many more there are, as far as anybody looks."""
        found = guest_interfaces([interface(*(f"192.0.2.{n}" for n in range(1, 201)))] * 5000)
        self.assertEqual(len(found.interfaces), MAX_INTERFACES)
        self.assertEqual({len(each.addresses) for each in found.interfaces}, {MAX_ADDRESSES})
        self.assertEqual(found.left_out, 5000 - MAX_INTERFACES + MAX_INTERFACES * (ADDRESSES_LOOKED_AT - MAX_ADDRESSES))

    def test_commands(self) -> None:
        """Nothing of a name commands a terminal, or goes on for long."""
        (only,) = guest_interfaces([interface("192.0.2.7", name="\x1b[2Jeth\n0\u202e" + "x" * 100_000)]).interfaces
        self.assertEqual(only.name, "?[2Jeth?0?" + "x" * 22)

    def test_wrong_types(self) -> None:
        """What has no sense is passed over; an answer that is no list is none."""
        good = interface("192.0.2.7")
        wrong: list[Any] = [
            *(None, 7, "eth0", [], {}, {"name": 7}, interface(7, None, [], "fe80::1%eth0", "x" * 10_000, "1.2.3")),
            *(
                interface("192.0.2.8", name=None),
                {**good, "ip-addresses": "192.0.2.8"},
                {**good, "ip-addresses": [7, None]},
            ),
        ]
        for bad in wrong:
            self.assertEqual(guest_interfaces([bad, good]), guest_interfaces([good]), bad)
        for mac in (7, None, "aa:00", ":" * 17, "aa:00:00:00:00:0:", "\x1b[2J:00:00:00:00", ["aa:00:00:00:00:01"]):
            (only,) = guest_interfaces([{**good, "hardware-address": mac}]).interfaces
            self.assertEqual(only.mac, "")
        no_lists: list[Any] = [None, 7, "x", {}, {"return": []}, True]
        for answer in no_lists:
            self.assertRaises(AgentSilent, guest_interfaces, answer)
