"""The daemon put together, without a socket."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.internet.testing import FakeDatagramTransport
from twisted.python.usage import UsageError
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.confd.messages import PORT
from ganeti_tx.confd.protocol import ConfdProtocol
from ganeti_tx.confd.service import ConfdParts, start
from ganeti_tx.confd.tap import Options
from ganeti_tx.errors import ResolverError
from ganeti_tx.model.config_data import encode
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.confd.cases import CONFIG, NOW, RAW_KEY, reply_in, request
from ganeti_tx.test.fakes.file_watch import MemoryFileWatch
from ganeti_tx.test.fakes.files import MemoryFiles

PATHS = Paths()


class Listening:
    """A port in memory."""

    def __init__(self, protocol: ConfdProtocol, port: int, address: str) -> None:
        self.place = (address, port)
        self.protocol = protocol
        self.transport = FakeDatagramTransport()
        protocol.makeConnection(self.transport)
        self.open = True

    async def stopListening(self) -> None:
        """As a port does."""
        self.open = False


class ServiceTests(SynchronousTestCase):
    """From its start to its end."""

    def setUp(self) -> None:
        self.files = MemoryFiles()
        self.files.mkdir(PATHS.data_dir)
        self.files.mkdir(PATHS.etc_hosts.parent)
        self.write(PATHS.hmac_key, RAW_KEY)
        self.write(PATHS.config_file, encode(CONFIG))
        self.write(PATHS.etc_hosts, b"192.0.2.11 node1.example.com node1\n")
        self.clock = Clock()
        self.ports: list[Listening] = []

    def write(self, path: Any, data: bytes) -> None:
        """Put a file there."""
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, data)))

    def begin(self, name: str = "node1.example.com", address: str | None = None) -> Any:
        """Start it; what stops it."""

        def listen(protocol: ConfdProtocol, port: int, address: str) -> Listening:
            self.ports.append(Listening(protocol, port, address))
            return self.ports[-1]

        watch = MemoryFileWatch(self.files)
        parts = ConfdParts(name, PATHS, self.files, InlineThreads(), watch, self.clock, lambda: NOW, listen)
        return Deferred.fromCoroutine(start(parts, PORT, address))

    def test_life(self) -> None:
        """It listens on the node's own address, answers, and leaves nothing behind."""
        stop = self.successResultOf(self.begin())
        (port,) = self.ports
        self.assertEqual(port.place, ("192.0.2.11", 1814))
        port.protocol.datagramReceived(request(0), ("192.0.2.99", 4000))
        self.assertEqual(reply_in(port.transport.written[0][0]).answer, 3000000)
        self.clock.advance(60)
        self.successResultOf(Deferred.fromCoroutine(stop()))
        self.assertEqual((port.open, self.clock.getDelayedCalls(), self.files.listeners), (False, [], []))

    def test_other_address(self) -> None:
        """It can be told another address, with no need for the node's name."""
        self.successResultOf(self.begin("unknown", "127.0.0.1"))
        self.assertEqual(self.ports[0].place, ("127.0.0.1", 1814))

    def test_no_address(self) -> None:
        """A node whose own name has no address does not listen anywhere."""
        self.failureResultOf(self.begin("no..such"), ResolverError)
        self.assertEqual(self.ports, [])


class OptionsTests(SynchronousTestCase):
    """The command line."""

    def test_values(self) -> None:
        """The port is a number within bounds, the address an IP address; without any there are defaults."""
        options = Options()
        options.parseOptions(["-p", "1815", "-b", "::0:1", "-d"])
        self.assertEqual((options["port"], options["bind"], options["debug"]), (1815, "::1", 1))
        default = Options()
        default.parseOptions([])
        self.assertEqual((default["port"], default["bind"]), (1814, None))

    def test_wrong(self) -> None:
        """What is neither is refused."""
        for argv in (["-p", "0"], ["-p", "65536"], ["-p", "x"], ["-p", "-1"], ["-b", "localhost"], ["-b", ""]):
            self.assertRaises(UsageError, Options().parseOptions, argv)
