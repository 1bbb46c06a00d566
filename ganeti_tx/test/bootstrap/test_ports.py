"""Whether the ports that daemons will need are free."""

import socket
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.ports import PORTS, Port, check_ports, has_options, is_taken
from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.confd import messages
from ganeti_tx.mond import service as mond
from ganeti_tx.rapi import service as rapi
from ganeti_tx.runtime.paths import Paths

#: Of this machine, and nobody else's.
HERE = "127.83.21.7"


class PortTests(SynchronousTestCase):
    """On an address of their own."""

    def setUp(self) -> None:
        """A node with a root of its own."""
        self.paths = Paths(Path(self.mktemp()).absolute())

    def take(self, kind: socket.SocketKind, port: int = 0) -> int:
        """Listen, until the test is over."""
        taken = socket.socket(socket.AF_INET, kind)
        self.addCleanup(taken.close)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((HERE, port))
        if kind == socket.SOCK_STREAM:
            taken.listen()
        number: int = taken.getsockname()[1]
        return number

    def found(self) -> list[str]:
        """What stands in the way of all daemons."""
        problems = Problems()
        check_ports(problems, self.paths, HERE, tuple(PORTS))
        return problems.found

    def test_free(self) -> None:
        """Nothing stands in the way where nobody listens."""
        self.assertEqual(self.found(), [])

    def test_all_told(self) -> None:
        """Each port that is taken is told of, with its daemon, its kind and its address."""
        for port in PORTS.values():
            self.take(port.kind, port.number)
        self.assertEqual(
            self.found(),
            [
                f"ganeti-confd needs UDP port 1814 on {HERE}, where something listens already; stop it",
                f"ganeti-mond needs TCP port 1815 on {HERE}, where something listens already; stop it",
                f"ganeti-rapi needs TCP port 5080 on {HERE}, where something listens already; stop it",
            ],
        )

    def test_kinds(self) -> None:
        """A TCP port is not taken by datagrams, nor the other way round."""
        number = self.take(socket.SOCK_STREAM)
        self.assertTrue(is_taken(HERE, Port(number)))
        self.assertFalse(is_taken(HERE, Port(number, socket.SOCK_DGRAM)))

    def test_foreign_address(self) -> None:
        """What is not an address of this machine has no ports that could be taken."""
        self.assertFalse(is_taken("192.0.2.1", PORTS["ganeti-rapi"]))

    def test_as_the_daemons(self) -> None:
        """The ports are those on which the daemons listen by themselves."""
        self.assertEqual(
            {name: port.number for name, port in PORTS.items()},
            {"ganeti-confd": messages.PORT, "ganeti-mond": mond.PORT, "ganeti-rapi": rapi.PORT},
        )

    def test_options(self) -> None:
        """A daemon that is given options may listen elsewhere; one whose line is empty, or a comment, does not."""
        file = Path(self.mktemp())
        file.write_text('#MOND_ARGS="-p 7"\nCONFD_ARGS=""\nRAPI_ARGS="-p 5081"\n')
        self.assertTrue(has_options(file, "ganeti-rapi"))
        for daemon in ("ganeti-confd", "ganeti-mond"):
            self.assertFalse(has_options(file, daemon), daemon)
        self.assertFalse(has_options(file.with_name("absent"), "ganeti-rapi"))

    def test_whole_machine(self) -> None:
        """On a machine of its own the Remote API listens everywhere, unless its options say something else."""
        self.take(socket.SOCK_STREAM, rapi.PORT)
        options = Path(self.mktemp())
        machine, problems = Paths(Path("/")), Problems()
        check_ports(problems, machine, "127.0.0.1", ["ganeti-rapi"], options)
        self.assertEqual(
            problems.found, ["ganeti-rapi needs TCP port 5080 on 0.0.0.0, where something listens already; stop it"]
        )
        options.write_text("RAPI_ARGS=--port=5081\n")
        check_ports(problems, machine, "127.0.0.1", ["ganeti-rapi"], options)
        self.assertEqual(len(problems.found), 1)
