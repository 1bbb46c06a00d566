"""The addresses of this machine's interfaces."""

import subprocess
import sys
from socket import AF_INET6

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.addresses import address_of, interface_with, parse_if_inet6

#: As Linux writes it.
LISTED = """\
00000000000000000000000000000001 01 80 10 80       lo
fe80000000000000000000fffe000001 02 40 20 80     eth0
20010db8000000000000000000000011 02 40 00 82     eth0
"""
#: Run in a network of its own.
ASK = """
import subprocess
from socket import AF_INET6
from ganeti_tx.runtime.addresses import address_of, interface_with, is_own_address
run = lambda words: subprocess.run(words.split(), check=True)
run("ip link add br0 type bridge")
run("ip -6 address add fe80::7/64 dev br0 nodad")
run("ip -6 address add 2001:db8::7/64 dev br0 nodad")
run("ip link set br0 up")
print(address_of("br0", AF_INET6), interface_with("2001:DB8:0::7"), interface_with("2001:db8::8"), is_own_address("2001:db8::7"))
"""


class AddressesTests(SynchronousTestCase):
    """IPv4 on this machine, IPv6 in a namespace."""

    def test_list(self) -> None:
        """Each line is an interface with an address of it."""
        found = [(name, str(address)) for name, address in parse_if_inet6(LISTED)]
        self.assertEqual(found, [("lo", "::1"), ("eth0", "fe80::ff:fe00:1"), ("eth0", "2001:db8::11")])

    def test_this_machine(self) -> None:
        """Of "lo" it is known; what is not there has no address."""
        self.assertEqual((address_of("lo"), interface_with("127.0.0.1")), ("127.0.0.1", "lo"))
        self.assertIsNone(interface_with("192.0.2.250"))
        self.assertRaises(OSError, address_of, "nosuch0")
        self.assertRaises(OSError, address_of, "nosuch0", AF_INET6)

    def test_interface(self) -> None:
        """The address is one that other hosts reach, and it leads back to the interface."""
        asked = subprocess.run(
            ["unshare", "-n", sys.executable, "-c", ASK], capture_output=True, text=True, timeout=60, check=False
        )
        if "unshare" in asked.stderr or "IPv6 is disabled" in asked.stderr:
            self.skipTest(asked.stderr.strip())
        self.assertEqual((asked.stdout.split(), asked.stderr), (["2001:db8::7", "br0", "None", "True"], ""))
