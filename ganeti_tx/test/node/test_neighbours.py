"""Telling the neighbours of an IPv6 address: the packet, and how often."""

import subprocess
import sys

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.neighbours import INTERVAL, TIMES, Announcements, advertisement

#: Run in a network of its own, in which a cable leads from v0 to v1: what comes out at its end?
LISTEN = """
import socket, subprocess
from ganeti_tx.node.neighbours import advertise
run = lambda words: subprocess.run(words.split(), check=True)
run("ip link add v0 address 02:00:00:00:00:07 type veth peer name v1")
for each in ("v0", "v1"):
    run(f"ip link set {each} up")
run("ip -6 address add 2001:db8::7/128 dev v0 nodad preferred_lft 0")
end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x86DD))
end.bind(("v1", 0))
end.settimeout(10)
advertise("2001:db8::7", "v0")
advertise("::1", "lo")  # which has no such address
while True:
    frame = end.recv(200)
    if frame[54] == 136:
        print(frame[:6].hex(":"), frame[6:12].hex(":"), frame[21], socket.inet_ntop(socket.AF_INET6, frame[22:38]))
        print(frame[54:58].hex() != "88000000", frame[58:].hex())
        break
for address, interface in (("2001:db8::9", "v0"), ("2001:db8::7", "v9")):
    try:
        advertise(address, interface)
    except OSError as error:
        print(error.errno)
"""
PACKET = "20000000" + "20010db8000000000000000000000007" + "0201" + "020000000007"


class AdvertisementTests(SynchronousTestCase):
    """The packet."""

    def test_packet(self) -> None:
        """Type, flag to override what was known, the address, and the card that has it."""
        wanted = bytes.fromhex("88000000" + PACKET)
        self.assertEqual(advertisement("2001:db8::7", bytes.fromhex("020000000007")), wanted)

    def test_on_the_wire(self) -> None:
        """It goes to all nodes from the address itself, with a checksum, and has not passed a router."""
        heard = subprocess.run(
            ["unshare", "-n", sys.executable, "-c", LISTEN], capture_output=True, text=True, timeout=60, check=False
        )
        if "unshare" in heard.stderr or "IPv6 is disabled" in heard.stderr:
            self.skipTest(heard.stderr.strip())
        addressed = ["33:33:00:00:00:01", "02:00:00:00:00:07", "255", "2001:db8::7"]
        self.assertEqual((heard.stdout.split(), heard.stderr), ([*addressed, "True", PACKET, "99", "19"], ""))


class AnnouncementsTests(SynchronousTestCase):
    """How often it is said."""

    def setUp(self) -> None:
        self.clock, self.said, self.fails = Clock(), 0, False

    def say(self, address: str, interface: str) -> None:
        """Count."""
        self.assertEqual((address, interface), ("2001:db8::7", "eth0"))
        if self.fails:
            raise OSError(99, "Cannot assign requested address")
        self.said += 1

    def test_times(self) -> None:
        """At once, and again after some time each."""
        Announcements(self.clock, self.say)("2001:db8::7", "eth0")
        self.assertEqual(self.said, 1)
        self.clock.pump([INTERVAL] * (TIMES + 1))
        self.assertEqual((self.said, self.clock.getDelayedCalls()), (TIMES, []))

    def test_gone(self) -> None:
        """It ends when the address was given up; that is no failure."""
        Announcements(self.clock, self.say)("2001:db8::7", "eth0")
        self.fails = True
        self.clock.pump([INTERVAL] * TIMES)
        self.assertEqual((self.said, self.clock.getDelayedCalls()), (1, []))
