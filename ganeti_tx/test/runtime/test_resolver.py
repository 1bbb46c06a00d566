"""Names into addresses."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.errors import ResolverError
from ganeti_tx.runtime.names import look_up
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.resolver import LOOK_UP_LIMIT, Resolver
from ganeti_tx.runtime.threads import InlineThreads, IThreads
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.resolver import FakeResolver

HOSTS = b"""
192.0.2.1   Node1.example.com node1   # the first
2001:db8::1 node6.example.com
192.0.2.9   node1.example.com
2001:db8::7 node1
192.0.2.3
"""


@implementer(IThreads)
class ScriptedSystem:
    """Stands for the system's resolver, which knows one host."""

    def run(self, func: Callable[..., Any], *args: object) -> Deferred[Any]:
        """See `IThreads`."""
        assert func is look_up
        return InlineThreads().run(self.answer, *args)

    def answer(self, name: str, family: socket.AddressFamily) -> tuple[str, str]:
        """As `look_up` would."""
        if (name, family) == ("far", socket.AF_INET6):
            return "far.example.com", "2001:db8::51"
        if name != "far":
            raise ResolverError(name, int(socket.EAI_NONAME), "Name or service not known")
        return "far.example.com", "198.51.100.1"


@implementer(IThreads)
class SilentSystem:
    """A system whose answer comes when the test gives it."""

    def __init__(self) -> None:
        self.answer: Deferred[Any] = Deferred()

    def run(self, func: Callable[..., Any], *args: object) -> Deferred[Any]:
        """See `IThreads`."""
        return self.answer


class ResolverTests(SynchronousTestCase):
    """The hosts file, then the system."""

    def setUp(self) -> None:
        """A node with a hosts file of its own."""
        self.files = MemoryFiles()
        self.paths = Paths(Path("/node"))
        self.files.mkdir(self.paths.etc_hosts.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(self.paths.etc_hosts, HOSTS)))
        self.resolver = Resolver(self.files, self.paths, ScriptedSystem(), Clock())

    def resolve(self, name: str) -> tuple[str, str]:
        """The answer, which is there at once."""
        return self.successResultOf(Deferred.fromCoroutine(self.resolver.resolve(name)))

    def test_hosts_file(self) -> None:
        """Any name in any case leads to the host's first name; the first line for a name counts."""
        for name in ("node1", "NODE1", "node1.example.com"):
            self.assertEqual(self.resolve(name), ("Node1.example.com", "192.0.2.1"))
        self.assertEqual(self.resolve("node6.example.com"), ("node6.example.com", "2001:db8::1"))

    def join(self, family: bytes) -> None:
        """Become part of a cluster."""
        self.files.mkdir(self.paths.data_dir)
        ssconf = self.paths.ssconf_file("primary_ip_family")
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(ssconf, family)))

    def test_family(self) -> None:
        """Names mean the addresses that they have in the cluster's family, and none of another."""
        self.join(b"10\n")
        self.assertEqual(self.resolve("node1"), ("node1", "2001:db8::7"))
        self.assertEqual(self.resolve("far"), ("far.example.com", "2001:db8::51"))
        self.join(b"2\n")
        self.assertEqual(self.resolve("node1"), ("Node1.example.com", "192.0.2.1"))
        self.assertEqual(self.resolve("far"), ("far.example.com", "198.51.100.1"))
        failure = self.failureResultOf(
            Deferred.fromCoroutine(self.resolver.resolve("node6.example.com")), ResolverError
        )
        self.assertIn("'node6.example.com'", str(failure.value))

    def test_address(self) -> None:
        """An address of either family is its own."""
        for ip in ("192.0.2.77", "2001:db8::77"):
            self.assertEqual(self.resolve(ip), (ip, ip))

    def test_other_address(self) -> None:
        """An address of another family than the cluster's is refused, which has no use for it."""
        self.join(b"10\n")
        failure = self.failureResultOf(Deferred.fromCoroutine(self.resolver.resolve("192.0.2.77")), ResolverError)
        self.assertIn("'192.0.2.77': it is no IPv6 address", str(failure.value))
        self.assertEqual(self.resolve("2001:DB8:0:0::77"), ("2001:DB8:0:0::77", "2001:db8::77"))

    def test_system(self) -> None:
        """What the hosts file does not know, the system may; a missing file is an empty one."""
        self.assertEqual(self.resolve("far"), ("far.example.com", "198.51.100.1"))
        self.files.remove(self.paths.etc_hosts)
        self.assertEqual(self.resolve("far"), ("far.example.com", "198.51.100.1"))

    def test_unknown(self) -> None:
        """An unknown name is an error that names it."""
        failure = self.failureResultOf(Deferred.fromCoroutine(self.resolver.resolve("node7")), ResolverError)
        self.assertIn("'node7'", str(failure.value))

    def test_silent_system(self) -> None:
        """A system that does not answer is an error after its time, and its late answer goes nowhere."""
        clock, silent = Clock(), SilentSystem()
        resolving = Deferred.fromCoroutine(Resolver(self.files, self.paths, silent, clock).resolve("far"))
        clock.advance(LOOK_UP_LIMIT - 1)
        self.assertNoResult(resolving)
        clock.advance(1)
        self.assertIn("no answer within 30 s", str(self.failureResultOf(resolving, ResolverError).value))
        silent.answer.callback(("far.example.com", "198.51.100.1"))

    def test_fake(self) -> None:
        """The fake keeps the contract: names in any case, addresses as they are, an error for what it does not know."""
        fake = FakeResolver({"far": ("far.example.com", "198.51.100.1")})
        for name, found in (("FAR", ("far.example.com", "198.51.100.1")), ("192.0.2.7", ("192.0.2.7", "192.0.2.7"))):
            self.assertEqual(self.successResultOf(Deferred.fromCoroutine(fake.resolve(name))), found)
        failure = self.failureResultOf(Deferred.fromCoroutine(fake.resolve("node7")), ResolverError)
        self.assertIn("'node7'", str(failure.value))
