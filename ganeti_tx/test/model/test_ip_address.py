"""What is taken for an IP address or a network."""

import re
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.ip_address import parsed, parsed_range6, parsed_v6, v4_inside
from ganeti_tx.model.ip_family import canonical, is_address
from ganeti_tx.model.opcodes.addresses import Ip4Address, Ip4Network, Ip6Address, Ip6Network
from ganeti_tx.runtime.daemon_options import address

PACKAGE = Path(__file__).parents[2]
ZONES = (
    "fe80::1%eth0",
    "fe80::1%",
    "fe80::1%$(reboot)\nNODE=evil\x1b[2J",
    "fd00::1%$(id)",
    "::1%1",
    "%",
    "192.0.2.1%1",
)


class ParsingTests(SynchronousTestCase):
    """Each way to read one."""

    def test_addresses(self) -> None:
        """Of both families, in any spelling."""
        for text, plain in (("192.0.2.1", "192.0.2.1"), ("2001:DB8:0::11", "2001:db8::11"), ("::", "::")):
            self.assertEqual((str(parsed(text)), canonical(text), is_address(text)), (plain, plain, True))
        self.assertEqual(str(parsed_range6("2001:db8::/64")), "2001:db8::/64")
        self.assertEqual(str(parsed_range6("2001:db8::1/64", strict=False)), "2001:db8::/64")

    def test_zones(self) -> None:
        """What follows % is any text to Python; nothing that reads takes it, and an error shows no control character."""
        readers = (parsed, parsed_v6, canonical, v4_inside, address, Ip4Address, Ip6Address)
        for text in ZONES:
            self.assertFalse(is_address(text))
            for read in readers:
                error = self.assertRaises(ValueError, read, text)
                self.assertTrue(str(error).isprintable(), str(error))
            for kind in (parsed_range6, Ip4Network, Ip6Network):
                self.assertRaises(ValueError, kind, f"{text}/64")
        self.assertIn("a zone (%) is not allowed", str(self.assertRaises(ValueError, parsed, ZONES[0])))

    def test_nothing_else(self) -> None:
        """Names, numbers, half addresses."""
        for text in (
            "",
            "node1",
            "192.0.2",
            "192.0.2.01",
            "192.0.2.1 ",
            "2001:db8::/64",
            3221225985,
            b"\xc0\0\2\1",
            None,
        ):
            error = self.assertRaises(ValueError, parsed, text)
            self.assertIn("not an IP address", str(error))

    def test_inside(self) -> None:
        """An IPv4 address in IPv6's spelling is found, and nothing else."""
        for text, inside in (
            ("::ffff:10.9.0.6", "10.9.0.6"),
            ("::FFFF:a09:6", "10.9.0.6"),
            ("0:0:0:0:0:ffff:10.9.0.6", "10.9.0.6"),
            ("10.9.0.6", "None"),
            ("2001:db8::1", "None"),
        ):
            self.assertEqual(str(v4_inside(text)), inside)


class OnePlaceTests(SynchronousTestCase):
    """What takes zones when it is called from anywhere else."""

    def test_nowhere_else(self) -> None:
        """Nobody else has Python read an address that may be of IPv6."""
        rule = r"\b(ip_address|ip_interface|ip_network|IPv6(Address|Interface|Network))\(|type\[IPv6|import ipaddress"
        wanted = {
            "model/ip_address.py",
            # what the kernel lists, as bytes
            "runtime/addresses.py",
            # a program that has nothing but Python; its addresses are of nodes
            "node/storage/drbd/connect.py",
        }
        sources = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "test"]
        found = {str(path.relative_to(PACKAGE)) for path in sources if re.search(rule, path.read_text())}
        self.assertEqual(found, wanted)
