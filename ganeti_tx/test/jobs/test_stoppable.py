"""Nodes and configuration that a unit can be stopped at."""

from collections.abc import Iterable, Mapping
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.config.reservations import Reservations
from ganeti_tx.jobs.stoppable import StoppableConfig, StoppableNodes
from ganeti_tx.logic.safe_points import SafePoints
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.node import TestDelay, Version
from ganeti_tx.rpc.interfaces import INodeRpc, NodeUnreachableError, Outcome, R, Target
from ganeti_tx.test.config.stores import config_of, loaded
from ganeti_tx.test.fakes.files import MemoryFiles

NODES = [NodeAddress(f"node{number}", f"192.0.2.{number}", False) for number in range(1, 6)]


@implementer(INodeRpc)
class PendingNodes:
    """Nodes whose answers the test gives."""

    def __init__(self) -> None:
        self.answers: list[Deferred[Any]] = []

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        self.answers.append(Deferred())
        return await self.answers[-1]

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says: it raises nothing, not even when it is cut off."""
        try:
            await self.call(next(iter(nodes)), call)
        except CancelledError:
            return {"node1": Outcome(error=NodeUnreachableError("cut off"))}
        return {}


class NodeTests(SynchronousTestCase):
    """Node calls."""

    def setUp(self) -> None:
        self.points = SafePoints()
        self.pending = PendingNodes()
        self.nodes = StoppableNodes(self.pending, self.points)

    def call(self, call: Any) -> "Deferred[Any]":
        """Ask one node."""
        return Deferred.fromCoroutine(self.nodes.call(NODES[0], call))

    def test_before_a_call(self) -> None:
        """After a stop no node is asked any more; the point is named."""
        self.points.stop()
        self.failureResultOf(self.call(Version()), CancelledError)
        self.assertEqual(self.pending.answers, [])
        self.assertEqual(self.points.stopped_at, "version on node1")

    def test_in_a_call(self) -> None:
        """A call under way is waited for, and its answer counts."""
        asked = self.call(Version())
        self.points.stop()
        self.assertNoResult(asked)
        self.pending.answers[0].callback(3)
        self.assertEqual(self.successResultOf(asked), 3)
        self.assertEqual(self.points.done, ["version on node1"])

    def test_failed_call(self) -> None:
        """A call that failed may have done something: it is told of."""
        asked = self.call(Version())
        self.pending.answers[0].errback(NodeUnreachableError("no answer"))
        self.failureResultOf(asked, NodeUnreachableError)
        self.assertEqual(self.points.done, ["version on node1"])

    def test_harmless_call(self) -> None:
        """A call that changes nothing and takes long is given up, to one node or to many."""
        for ask in (
            lambda: self.nodes.call(NODES[0], TestDelay(duration=50.0)),
            lambda: self.nodes.call_many(NODES, TestDelay(duration=50.0)),
        ):
            self.setUp()
            asked: Deferred[Any] = Deferred.fromCoroutine(ask())
            self.points.stop()
            self.failureResultOf(asked, CancelledError)

    def test_many(self) -> None:
        """Of many nodes some are named."""
        asked = Deferred.fromCoroutine(self.nodes.call_many(NODES, Version()))
        self.pending.answers[0].callback(3)
        self.successResultOf(asked)
        self.assertEqual(self.points.done, ["version on node1, node2, node3 and others"])


class ConfigTests(SynchronousTestCase):
    """The configuration."""

    def setUp(self) -> None:
        self.points = SafePoints()
        self.store = loaded(MemoryFiles())
        self.config = StoppableConfig(config_of(self.store, Reservations()), self.points)

    def test_reading(self) -> None:
        """To read is no safe point."""
        self.points.stop()
        cluster = self.successResultOf(Deferred.fromCoroutine(self.config.cluster()))
        self.assertEqual(cluster, self.store.snapshot.cluster)

    def test_change(self) -> None:
        """A change is recorded; after a stop there is none any more."""
        cluster = self.successResultOf(Deferred.fromCoroutine(self.config.cluster()))
        self.successResultOf(Deferred.fromCoroutine(self.config.update_cluster(cluster)))
        self.assertEqual(self.points.done, ["update_cluster in the configuration"])
        self.points.stop()
        serial = self.store.snapshot.cluster.serial_no
        self.failureResultOf(Deferred.fromCoroutine(self.config.update_cluster(cluster)), CancelledError)
        self.assertEqual(self.store.snapshot.cluster.serial_no, serial)

    def test_reserving(self) -> None:
        """To reserve something is not done any more after a stop; before it nobody need be told, for it goes back by itself."""
        self.successResultOf(Deferred.fromCoroutine(self.config.generate_uuid()))
        self.assertEqual(self.points.done, [])
        self.points.stop()
        self.failureResultOf(Deferred.fromCoroutine(self.config.generate_uuid()), CancelledError)

    def test_afterwards(self) -> None:
        """Waiting for copies and giving back at the end are no steps."""
        self.points.stop()
        for end in (self.config.when_distributed, self.config.undistributed, self.config.drop_reservations):
            self.successResultOf(Deferred.fromCoroutine(end()))
        self.assertEqual(self.points.done, [])
