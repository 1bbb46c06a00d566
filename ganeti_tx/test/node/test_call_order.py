"""Calls that change the same thing, in whatever order they come."""

from pathlib import Path

from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.call_order import MAX_NAMES, CallOrder
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevRemove
from ganeti_tx.rpc.calls.instance import InstanceStart
from ganeti_tx.rpc.refusals import CallRefused, CallTooLate
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.node.os.test_environment import INSTANCE


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
            self.order.take([name], at)

    def test_order(self) -> None:
        """What was sent before the last, or with it, is late; another thing has an order of its own."""
        self.order.take(["web1"], stamp(5))
        for late in (4, 5):
            self.refused("web1", stamp(late), "too late: web1 was changed by one that was sent after it")
        self.order.take(["web2"], stamp(4))
        self.order.take(["web1"], stamp(6))
        self.order.take(["web1"], None)

    def test_masters(self) -> None:
        """A later master begins anew, and none before it is heard any more, nor another one of the same term."""
        self.order.take(["web1"], stamp(5))
        self.order.take(["web1"], stamp(1, term=2, master="node2"))
        for late in (stamp(9), stamp(9, term=2)):
            self.refused("web1", late, "too late")
        self.order.take(["web1"], stamp(1, cluster="another"))

    def test_known_master(self) -> None:
        """A former master is told who is in its place, also about things that nobody has changed yet."""
        self.successResultOf(Deferred.fromCoroutine(self.terms.admit(stamp(0, term=3, master="node2"))))
        for late in (stamp(9, term=2), stamp(9, term=3)):
            self.refused("web1", late, "node1 is not the master any more .*: node2 is since term 3")
        self.order.take(["web1"], stamp(9, term=3, master="node2"))

    def test_limit(self) -> None:
        """What is remembered has a limit."""
        for number in range(MAX_NAMES + 1):
            self.order.take([f"web{number}"], stamp(5))
        self.order.take(["web0"], stamp(4))
        self.refused(f"web{MAX_NAMES}", stamp(4), "too late")


class TurnTests(SynchronousTestCase):
    """Calls that come at the same time."""

    def setUp(self) -> None:
        files, paths = MemoryFiles(), Paths(Path("/node"))
        files.mkdir(paths.data_dir)
        self.order = CallOrder(Terms(files, paths))
        self.begun: list[tuple[NodeCall[object], Deferred[None]]] = []
        self.wanted = True

    def perform(self, call: NodeCall[object]) -> "Deferred[None]":
        """A call comes in; it is done when `finish` says so."""

        async def method(call: NodeCall[object]) -> None:
            self.begun.append((call, Deferred()))
            await self.begun[-1][1]

        return Deferred.fromCoroutine(self.order.perform(call, method, lambda: self.wanted))

    def start(self, sequence: int, *disks: str, name: str = "web1") -> InstanceStart:
        """Start an instance with these disks."""
        specs = [DiskSpec(uuid=uuid, dev_type="file", size=1, logical_id=None) for uuid in disks]
        return InstanceStart(instance=replace(INSTANCE, name=name, disks=specs), stamp=stamp(sequence))

    def remove(self, sequence: int, disk: str, *children: str) -> BlockdevRemove:
        """Remove a disk."""
        below = [DiskSpec(uuid=uuid, dev_type="plain", size=1, logical_id=None) for uuid in children]
        spec = DiskSpec(uuid=disk, dev_type="file", size=1, logical_id=None, children=below)
        return BlockdevRemove(disk=spec, owner="web1", stamp=stamp(sequence))

    def finish(self) -> None:
        """The call that has been begun first ends."""
        self.begun.pop(0)[1].callback(None)

    def test_one_after_the_other(self) -> None:
        """What shares anything waits, a disk below another one too; what shares nothing goes on side by side."""
        done = [
            self.perform(call)
            for call in (self.start(1, "a", "b"), self.remove(2, "b"), self.start(3, "d", name="web2"))
        ]
        self.assertEqual(len(self.begun), 2)
        self.perform(self.remove(4, "c", "d"))
        self.assertEqual(len(self.begun), 2)
        self.finish()
        self.assertEqual([call.name for call, _ in self.begun], ["instance_start", "blockdev_remove"])
        self.successResultOf(done[0])
        self.finish()
        self.assertEqual(len(self.begun), 2)

    def test_late(self) -> None:
        """One that waited until something sent later was done is not done; neither is one that comes after it."""
        first = self.perform(self.start(5, "a"))
        self.finish()
        self.successResultOf(first)
        self.failureResultOf(self.perform(self.remove(4, "a")), CallTooLate)
        self.assertEqual(self.begun, [])

    def test_given_up(self) -> None:
        """A call that is cancelled while it waits lets the others through, and nothing is remembered of idle things."""
        self.perform(self.start(1, "a"))
        waiting = self.perform(self.start(2, "a"))
        last = self.perform(self.remove(3, "a"))
        waiting.cancel()
        self.failureResultOf(waiting, CancelledError)
        self.finish()
        self.finish()
        self.successResultOf(last)
        self.assertEqual(self.order._locks, {})

    def test_nobody_waits(self) -> None:
        """One whose caller has hung up while it waited is not begun, and does not count for those that come after it."""
        self.perform(self.start(1, "a"))
        hung_up, later = self.perform(self.start(4, "a")), self.perform(self.remove(3, "a"))
        self.wanted = False
        self.finish()
        self.failureResultOf(hung_up, CallTooLate)
        self.failureResultOf(later, CallTooLate)
        self.wanted = True
        self.perform(self.remove(2, "a"))
        self.assertEqual([call.name for call, _ in self.begun], ["blockdev_remove"])

    def test_ends_at_once(self) -> None:
        """Calls that wait for a thing and are done without waiting for anything else leave nothing behind."""
        self.perform(self.start(1, "a"))

        async def at_once(call: NodeCall[object]) -> None:
            return None

        others = [
            Deferred.fromCoroutine(self.order.perform(self.remove(at, "a"), at_once, lambda: True)) for at in (2, 3, 4)
        ]
        self.finish()
        for other in others:
            self.successResultOf(other)
        self.assertEqual(self.order._locks, {})
