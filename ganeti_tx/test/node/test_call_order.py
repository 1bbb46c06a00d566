"""Calls that change the same thing, in whatever order they come."""

from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.call_order import MAX_NAMES, CallOrder
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.refusals import CallRefused
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles


def stamp(sequence: int, term: int = 1, master: str = "node1", cluster: str = "c") -> Stamp:
    """A moment of a master's term."""
    return Stamp(cluster=cluster, master=master, term=term, sequence=sequence)


class CallOrderTests(SynchronousTestCase):
    """A node that has heard of nobody yet."""

    def setUp(self) -> None:
        files, paths = MemoryFiles(), Paths(Path("/node"))
        files.mkdir(paths.data_dir)
        self.terms = Terms(files, paths)
        self.order = CallOrder(self.terms)

    def refused(self, name: str, at: Stamp, why: str) -> None:
        """This call is not done."""
        with self.assertRaisesRegex(CallRefused, why):
            self.order.take(name, at)

    def test_order(self) -> None:
        """What was sent before the last, or with it, is late; another thing has an order of its own."""
        self.order.take("web1", stamp(5))
        for late in (4, 5):
            self.refused("web1", stamp(late), "too late: web1 was changed by one that was sent after it")
        self.order.take("web2", stamp(4))
        self.order.take("web1", stamp(6))
        self.order.take("web1", None)

    def test_masters(self) -> None:
        """A later master begins anew, and none before it is heard any more, nor another one of the same term."""
        self.order.take("web1", stamp(5))
        self.order.take("web1", stamp(1, term=2, master="node2"))
        for late in (stamp(9), stamp(9, term=2)):
            self.refused("web1", late, "too late")
        self.order.take("web1", stamp(1, cluster="another"))

    def test_known_master(self) -> None:
        """A master that was deposed is told who is in its place, also about things that nobody has changed yet."""
        self.successResultOf(Deferred.fromCoroutine(self.terms.admit(stamp(0, term=3, master="node2"))))
        for late in (stamp(9, term=2), stamp(9, term=3)):
            self.refused("web1", late, "node1 is not the master any more .*: node2 is since term 3")
        self.order.take("web1", stamp(9, term=3, master="node2"))

    def test_limit(self) -> None:
        """What is remembered has a limit."""
        for number in range(MAX_NAMES + 1):
            self.order.take(f"web{number}", stamp(5))
        self.order.take("web0", stamp(4))
        self.refused(f"web{MAX_NAMES}", stamp(4), "too late")
