"""Where a node's daemons listen."""

from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.own_address import OwnAddress
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles

PATHS = Paths(Path("/node"))
HERE = ("2001:db8::12", "192.0.2.12")


class OwnAddressTests(SynchronousTestCase):
    """node2, whose machine has an address of each family."""

    def setUp(self) -> None:
        self.files = MemoryFiles()
        self.put(PATHS.etc_hosts, "192.0.2.12 node2\n2001:db8::12 node2\n")
        self.own = OwnAddress(self.files, PATHS, InlineThreads(), Clock(), lambda address: address in HERE)

    def put(self, path: Path, text: str) -> None:
        """Have a file."""
        self.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, text.encode())))

    def join(self, addresses: str, family: str = "10") -> None:
        """Be told of a cluster's nodes."""
        self.put(PATHS.ssconf_file("node_primary_ips"), addresses)
        self.put(PATHS.ssconf_file("primary_ip_family"), f"{family}\n")

    def primary(self) -> str:
        """The answer, which is there at once."""
        return self.successResultOf(Deferred.fromCoroutine(self.own.primary("node2")))

    def test_listed(self) -> None:
        """The cluster's list says it; nobody is asked for a name."""
        self.put(PATHS.etc_hosts, "")
        self.join("node1 2001:db8::11\nnode2 2001:db8::12\n")
        self.assertEqual(self.primary(), "2001:db8::12")

    def test_moved(self) -> None:
        """A machine that has another address by now, or is not listed yet, has what its name means in the family."""
        for listed in ("node2 2001:db8::99\n", "node1 2001:db8::11\n", "nonsense\n"):
            self.join(listed)
            self.assertEqual(self.primary(), "2001:db8::12")
            self.join(listed, "2")
            self.assertEqual(self.primary(), "192.0.2.12")

    def test_every(self) -> None:
        """What stands for all addresses goes by the cluster's family."""
        self.assertEqual(self.own.every(), "0.0.0.0")
        self.join("", "10")
        self.assertEqual(self.own.every(), "::")
