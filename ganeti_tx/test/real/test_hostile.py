"""Hostile and faulty clients at the sockets of real daemons: memory stays bounded, and everybody else is served."""

import atexit
import resource

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.attacks import MIB, ON_NODES, ON_SOCKETS, Memory, Target, anybody
from ganeti_tx.test.real.programs import SmallCluster

#: What any attack may cost a daemon, at its height and afterwards.
BOUND = 64 * MIB
NODE_PORT = 1811

_cluster: list[SmallCluster] = []


def shared_cluster() -> SmallCluster:
    """A cluster of one node, made when it is first needed; it ends with this process."""
    if not _cluster:
        _cluster.append(SmallCluster())
        atexit.register(_cluster[0].close)
        _cluster[0].init()
    return _cluster[0]


class HostileCase(SynchronousTestCase):
    """A cluster of one node, which outlives the attacks of all classes."""

    daemon = "ganeti-master"

    def setUp(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.cluster = shared_cluster()
        self.served()
        self.memory = Memory(self.cluster.process(self.daemon))

    def served(self) -> None:
        """Somebody else gets a job done, and live data of the node."""
        self.cluster.must("gnt-debug", "delay", "0")
        told = self.cluster.must("gnt-node", "list", "--no-headers", "-o", "name,dtotal").split()
        self.assertEqual(told[0], self.cluster.node.name)
        self.assertNotIn(told[1], "?*-")

    def attacked(self, target: Target, name: str) -> str:
        """What an attacker heard; meanwhile others were served, and the daemon's memory stayed in bounds."""
        attack = {**ON_SOCKETS, **ON_NODES}[name]
        before = self.memory.now()
        self.memory.forget_peak()
        try:
            said = attack(target)
            self.served()
        finally:
            target.close()
        self.cluster.must("gnt-cluster", "info")
        self.assertLess(self.memory.peak() - before, BOUND, f"{name}: the peak")
        self.assertLess(self.memory.now() - before, BOUND, f"{name}: afterwards")
        self.assertEqual(self.cluster.process(self.daemon), self.memory.process)
        return said


class SocketAttacks(HostileCase):
    """What is done to LUXI and to WConfD alike."""

    socket = ""
    longest = 0

    def attack(self, name: str) -> str:
        """Attack the socket."""
        return self.attacked(Target(path=self.cluster.node.root / "var/run/ganeti/socket" / self.socket), name)

    def test_endless_frame(self) -> None:
        """A request without an end is refused when it is too long."""
        self.assertIn(f"longer than the limit of {self.longest} bytes", self.attack("endless frame"))

    def test_junk(self) -> None:
        """Junk is refused with its first piece."""
        self.assertIn("Cannot parse request", self.attack("junk"))

    def test_many_unfinished(self) -> None:
        """Unfinished requests that together take too much room are refused, not those of others."""
        self.assertIn("Requests take too much room together", self.attack("many unfinished"))

    def test_idle(self) -> None:
        """A thousand silent connections keep nobody out."""
        self.attack("idle connections")

    def test_drip(self) -> None:
        """Nor do those on which a byte comes now and then."""
        self.attack("a byte at a time")

    def test_no_reader(self) -> None:
        """Nor do clients that ask much and read nothing."""
        self.attack("no reader")

    def test_deep(self) -> None:
        """Deep nesting is refused."""
        said = self.attack("deep").split("; ")
        self.assertIn("nested deeper than 100 levels", said[1])
        self.assertIn("Cannot parse request", said[0])

    def test_text(self) -> None:
        """Text that is no UTF-8 is refused."""
        self.assertIn("Cannot parse request", self.attack("bad text"))

    def test_integers(self) -> None:
        """Numbers that are too large are refused."""
        said = self.attack("huge integers").split("; ")
        self.assertEqual(len([each for each in said if "Cannot parse request" in each]), 4, said)

    def test_values(self) -> None:
        """Requests of too many values are refused unread."""
        self.assertRegex(self.attack("many values"), "values; allowed are 250000|longer than the limit")

    def test_held(self) -> None:
        """Large requests, and refusals that would repeat them, take no more room than others."""
        self.attack("held requests")


class LuxiTests(SocketAttacks):
    """At luxid's socket."""

    socket = "ganeti-query"
    longest = 32 * MIB


class WconfdTests(SocketAttacks):
    """At WConfD's socket."""

    socket = "ganeti-wconfd"
    longest = 8 * MIB


del SocketAttacks  # it has no socket of its own to attack


class NodeCallTests(HostileCase):
    """At a node daemon's port."""

    daemon = "ganeti-noded"

    def attack(self, name: str) -> str:
        """Attack the port, with the master's own certificate where one is shown."""
        tls = anybody(self.cluster.node.root / "var/lib/ganeti/client.pem")
        return self.attacked(Target(address=(self.cluster.node.address, NODE_PORT), tls=tls), name)

    def test_announced_body(self) -> None:
        """A body that no call may have is refused when it is announced."""
        self.assertRegex(self.attack("announced body"), "413|hung up")

    def test_slow_heads(self) -> None:
        """Headers that drip in keep nobody out."""
        self.attack("slow heads")

    def test_idle(self) -> None:
        """Nor do TLS connections that say nothing."""
        self.attack("idle callers")

    def test_plain_junk(self) -> None:
        """Nor do bytes that are no TLS, and connections without a handshake."""
        self.attack("plain junk")

    def test_no_certificate(self) -> None:
        """Who has no certificate gets no answer."""
        self.assertNotIn("200", self.attack("no certificate"))
