"""The daemon put together, with a reactor in memory."""

import json
from typing import Any, cast

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.settings.collectors import COLLECTORS
from ganeti_tx.mond.service import MondParts, collectors_of, monitoring, real_parts, start
from ganeti_tx.mond.tap import Options
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.fakes.reactor import PooledReactor
from ganeti_tx.test.mond.parts import CONTRACT, FixedFacts, Silent, put

PATHS = Paths("/n1")


class ServiceTests(SynchronousTestCase):
    """A node whose files and programs are in memory."""

    def setUp(self) -> None:
        self.reactor = PooledReactor()
        self.files = MemoryFiles()
        put(self.files, PATHS.etc_hosts, "127.9.9.9 node1\n")
        self.parts: MondParts = evolve(
            real_parts(cast(IDaemonReactor, self.reactor)), name="node1", paths=PATHS, files=self.files, threads=InlineThreads(),
            runner=FakeProcessRunner(),
        )  # fmt: skip

    def start(self, address: str | None = None) -> "Deferred[Any]":
        """As the daemon starts."""
        return Deferred.fromCoroutine(start(self.parts, CONTRACT["port"], address))

    def test_no_cluster(self) -> None:
        """On a node without a key it does not run, and says so."""
        error = self.failureResultOf(self.start(), ConfigurationError).value
        self.assertIn("not part of a cluster", str(error))

    def test_address(self) -> None:
        """It listens on the node's own address, or the one it is told; after a stop nothing is left to do."""
        put(self.files, PATHS.hmac_key, "key")
        for address, expected in ((None, "127.9.9.9"), ("0.0.0.0", "0.0.0.0")):
            stop = self.successResultOf(self.start(address))
            port, _, _, interface = self.reactor.tcpServers[-1]
            self.assertEqual((port, interface), (1815, expected))
            self.successResultOf(Deferred.fromCoroutine(stop()))
            self.assertEqual(self.reactor.getDelayedCalls(), [])

    def test_collectors(self) -> None:
        """There are the collectors of the reference and one of our own, which are those of the cluster's settings."""
        found = {each.name: each for each in collectors_of(self.parts, FixedFacts())}
        self.assertEqual(sorted(found), sorted(COLLECTORS))
        self.assertEqual(set(found) - set(CONTRACT["collectors"]), {"inst-status-kvm"})
        for name, told in CONTRACT["collectors"].items():
            one = found[name]
            self.assertEqual(
                (one.category, one.kind, one.format_version), (told["category"], told["kind"], told["format_version"])
            )
        own, xen = found["inst-status-kvm"], found["inst-status-xen"]
        self.assertEqual((own.category, own.kind), (xen.category, xen.kind))

    def test_whole(self) -> None:
        """On this machine, and with nobody to tell the configuration, every report can be had; the metrics too."""
        self.parts = evolve(self.parts, files=RealFiles(InlineThreads()), paths=Paths("/nowhere"))
        running = monitoring(self.parts, Silent())
        self.successResultOf(Deferred.fromCoroutine(running.start()))
        bodies = {path: self.get(running.site, path) for path in ("/1/report/all", "/metrics")}
        reports = {each["name"]: each["data"] for each in json.loads(bodies["/1/report/all"])}
        self.assertEqual(sorted(reports), ["cpu-avg-load", "diskstats", "drbd", "lv"])
        self.assertIn(b"ganeti_host_memory_bytes", bodies["/metrics"])
        running.stop()
        self.assertEqual(self.reactor.getDelayedCalls(), [])

    def get(self, site: Any, path: str) -> bytes:
        """The body of an answer that is there at once."""
        channel, transport = site.buildProtocol(None), StringTransport()
        channel.makeConnection(transport)
        channel.dataReceived(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        self.reactor.advance(0)
        self.assertTrue(transport.disconnecting)
        channel.connectionLost(Failure(ConnectionDone()))
        head, _, body = transport.value().partition(b"\r\n\r\n")
        self.assertIn(b"200 OK", head)
        return body


class OptionTests(SynchronousTestCase):
    """The command line of Ganeti's daemon."""

    def test_options(self) -> None:
        """The options have the reference's names; the port is its own."""
        options = Options()
        options.parseOptions(["-d", "-b", "127.0.0.2", "--no-user-checks"])
        self.assertEqual((options["port"], options["bind"]), (CONTRACT["port"], "127.0.0.2"))
        options.parseOptions(["--debug", "--bind", "127.0.0.3", "--port", "9"])
        self.assertEqual((options["port"], options["bind"]), (9, "127.0.0.3"))
