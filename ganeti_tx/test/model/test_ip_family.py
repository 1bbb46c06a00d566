"""Families of addresses, and which addresses nodes may have."""

from socket import AF_INET, AF_INET6, AF_UNSPEC

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model import ip_family
from ganeti_tx.model.ip_family import missing_secondary, primary_fault, secondary_fault


class FamilyTests(SynchronousTestCase):
    """Which is which."""

    def test_families(self) -> None:
        """Of addresses, of versions as they are typed, and of numbers as the cluster's simple configuration has them."""
        self.assertEqual([ip_family.family_of(each) for each in ("192.0.2.1", "::1")], [AF_INET, AF_INET6])
        self.assertEqual([ip_family.family_of_version(each) for each in (4, 6)], [AF_INET, AF_INET6])
        written = ["2\n", "10", "", "5"]
        self.assertEqual(list(map(ip_family.family_of_ssconf, written)), [AF_INET, AF_INET6, AF_UNSPEC, AF_UNSPEC])
        self.assertEqual([ip_family.family_name(each) for each in (2, 10, 0)], ["IPv4", "IPv6", "IP"])

    def test_whole_machine(self) -> None:
        """The addresses that stand for all of a machine's, and for itself."""
        families = (AF_INET, AF_INET6, AF_UNSPEC)
        self.assertEqual(list(map(ip_family.every_address, families)), ["0.0.0.0", "::", "0.0.0.0"])
        self.assertEqual(list(map(ip_family.loopback, families)), ["127.0.0.1", "::1", "127.0.0.1"])

    def test_one_form(self) -> None:
        """An address has many spellings, of which two cannot be compared."""
        self.assertEqual(ip_family.canonical("2001:DB8:0:0::11"), "2001:db8::11")
        self.assertRaises(ValueError, ip_family.canonical, "node1")


class RuleTests(SynchronousTestCase):
    """What nodes may have."""

    def test_primary(self) -> None:
        """An address of the cluster's family, which means the same host everywhere."""
        for address, family in (("192.0.2.1", AF_INET), ("2001:db8::1", AF_INET6), ("::1", AF_UNSPEC)):
            self.assertIsNone(primary_fault(address, family))
        for address, family, why in (
            ("node1", AF_INET, "'node1' is no IP address"),
            ("192.0.2.1", AF_INET6, "192.0.2.1 is an IPv4 address, but the primary addresses of this cluster are IPv6"),
            ("2001:db8::1", AF_INET, "are IPv4"),
            ("fe80::1", AF_INET6, "fe80::1 is a link-local address"),
        ):
            self.assertIn(why, primary_fault(address, family) or "")

    def test_secondary(self) -> None:
        """IPv4 in every cluster, and one of its own where the primary one is IPv6."""
        self.assertIsNone(secondary_fault("198.51.100.1"))
        self.assertIn("2001:db8::1 is an IPv6 address", secondary_fault("2001:db8::1") or "")
        self.assertIn("'web'", secondary_fault("web") or "")
        self.assertIsNone(missing_secondary(AF_INET))
        self.assertIn("--secondary-ip", missing_secondary(AF_INET6) or "")
