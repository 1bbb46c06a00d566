"""Undos on nodes that cannot be reached."""

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.jobs.insisting import PAUSE, Insisting
from ganeti_tx.logic.steps import undo_all
from ganeti_tx.model.undo import NodeUndo, Undo
from ganeti_tx.rpc.interfaces import NodeUnreachableError

LIMIT = 20.0


@define
class Nodes:
    """Some of which do not answer. @ivar asked: the titles of the undos that were sent to a node."""

    dead: set[str]
    asked: list[str] = field(factory=list)

    async def __call__(self, undo: Undo) -> None:
        """Ask its node; another one if that can be."""
        assert isinstance(undo, NodeUndo)
        self.asked.append(undo.title)
        if undo.node in self.dead and not undo.elsewhere:
            raise NodeUnreachableError(f"cannot reach {undo.node}")

    async def elsewhere(self, undo: Undo) -> bool:
        """Another one is there."""
        return isinstance(undo, NodeUndo) and undo.elsewhere


def on(node: str, title: str, elsewhere: bool = False) -> NodeUndo:
    """An undo."""
    return NodeUndo(title=title, node=node, primary_ip="", call="", arguments={}, elsewhere=elsewhere)


class InsistingTests(SynchronousTestCase):
    """Undos of one job."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.nodes = Nodes({"node2"})
        self.warnings: list[str] = []

    def done(self, *undos: Undo) -> Deferred[list[Undo]]:
        """They are done, the last first."""
        insisting = Insisting(self.nodes, self.clock, LIMIT)
        return Deferred.fromCoroutine(undo_all(list(undos), insisting, self.warnings.append))

    def test_asked_no_more(self) -> None:
        """A node that has been given up is asked nothing else, and told of once; other nodes are."""
        left = self.done(on("node2", "a"), on("node1", "b"), on("node2", "c"))
        self.clock.pump([PAUSE] * 12)
        self.assertEqual([each.title for each in self.successResultOf(left)], ["c", "a"])
        self.assertEqual(self.nodes.asked, ["c"] * 11 + ["b"])
        self.assertEqual(self.warnings, ["could not undo 2 steps (c; a): cannot reach node2"])

    def test_elsewhere(self) -> None:
        """What another node can do as well is done, before the first is given up and after that."""
        left = self.done(on("node2", "shared", True), on("node2", "own"), on("node2", "shared, too", True))
        self.assertEqual(self.nodes.asked, ["shared, too", "own"])
        self.clock.pump([PAUSE] * 12)
        self.assertEqual([each.title for each in self.successResultOf(left)], ["own"])

    def test_back(self) -> None:
        """One that comes back in time takes back all."""
        left = self.done(on("node2", "a"), on("node2", "b"))
        self.clock.pump([PAUSE] * 3)
        self.nodes.dead.clear()
        self.clock.pump([PAUSE] * 2)
        self.assertEqual((self.successResultOf(left), self.warnings), ([], []))
