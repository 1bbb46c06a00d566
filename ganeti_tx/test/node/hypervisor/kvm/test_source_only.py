"""Sockets at which one address can connect: by the kernel's own."""

import socket

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.source_only import instructions, listening

HERE, SOURCE, OTHER = "127.0.0.1", "127.0.0.2", "127.0.0.3"
#: Seconds for which somebody tries to connect; within the machine it takes less than one of a thousand.
PATIENCE = 0.2


def connects(listener: socket.socket, source: str) -> bool:
    """Whether somebody does, from that address."""
    with socket.socket(listener.family, socket.SOCK_STREAM) as link:
        link.bind((source, 0))
        link.settimeout(PATIENCE)
        return link.connect_ex(listener.getsockname()[:2]) == 0


class SourceOnlyTests(SynchronousTestCase):
    """On the loopback interface, which has a whole network of addresses."""

    def test_others_kept_out(self) -> None:
        """Who comes from another address finds nobody, however often, and the right one is let in before and after."""
        with listening(HERE, 0, SOURCE) as listener:
            self.assertEqual([connects(listener, each) for each in (SOURCE, OTHER, SOURCE, HERE)], [True, False] * 2)

    def test_bytes_pass(self) -> None:
        """What is sent over a connection arrives, both ways, also what takes many packets."""
        data = bytes(range(256)) * 64
        with listening(HERE, 0, SOURCE) as listener, socket.socket() as link:
            link.bind((SOURCE, 0))
            link.connect(listener.getsockname())
            taken, _ = listener.accept()
            with taken:
                for sender, receiver in ((link, taken), (taken, link)):
                    sender.sendall(data)
                    self.assertEqual(receiver.recv(len(data), socket.MSG_WAITALL), data)

    def test_ipv6(self) -> None:
        """All four words of such an address are compared."""
        try:
            for source, found in (("::1", True), ("::2", False), ("1::1", False)):
                with listening("::1", 0, source) as listener:
                    self.assertIs(connects(listener, "::1"), found)
        except HypervisorError as error:
            raise SkipTest(f"no IPv6 here: {error}") from None

    def test_anybody(self) -> None:
        """Where no address is known everybody is let in."""
        with listening(HERE, 0) as listener:
            self.assertTrue(connects(listener, OTHER))

    def test_refused(self) -> None:
        """What is no address, is of the other family, or is not to be had, with the reason."""
        for source in ("node1.example.com", "::1"):
            failed = self.assertRaises(HypervisorError, listening, HERE, 0, source)
            self.assertIn(f"not an address from which {HERE} is reached: {source!r}", str(failed))
        with listening(HERE, 0) as taken:
            place = taken.getsockname()
            failed = self.assertRaises(HypervisorError, listening, *place)
            self.assertIn(f"cannot listen at {HERE}:{place[1]}: Address already in use", str(failed))

    def test_drops_at_the_first_difference(self) -> None:
        """Each comparison leads to the last verdict, which is to drop."""
        for source, words in (("192.0.2.1", 1), ("2001:db8::1", 4)):
            program = instructions(source)
            self.assertEqual(len(program), 2 * words + 2)
            for place in range(1, 2 * words, 2):
                self.assertEqual(place + 1 + program[place][2], len(program) - 1)
