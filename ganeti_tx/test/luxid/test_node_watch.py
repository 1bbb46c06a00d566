"""Asking the nodes for the metrics: one round for all who want to know."""

from typing import Any

from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxid.node_watch import ANSWER_LIMIT, KEPT, NodeWatch
from ganeti_tx.metrics.nodes import AGE, MEMORY, UP
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.query.view import Views
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo
from ganeti_tx.rpc.interfaces import Target
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model.samples import CONFIG, NODE


@define
class HeldRpc(FakeNodeRpc):
    """Keeps its answers back until `release`; remembers how long it was given."""

    limits: set[float | None] = field(factory=set)
    held: list[Deferred[None]] = field(factory=list)

    async def call(self, node: Target, call: Any, timeout: float | None = None) -> Any:
        """See INodeRpc."""
        self.limits.add(timeout)
        answer = await FakeNodeRpc.call(self, node, call, timeout)
        held: Deferred[None] = Deferred()
        self.held.append(held)
        await held
        return answer

    def release(self) -> None:
        """Let everybody have his answer."""
        while self.held:
            self.held.pop(0).callback(None)


class NodeWatchTests(SynchronousTestCase):
    """NodeWatch over the sample configuration."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.rpc = HeldRpc()
        self.rpc.answer(NodeInfo, NodeFacts("boot", [], {"kvm": {"memory_total": 2}}))
        self.rpc.answer(AllInstancesInfo, {})
        self.watch = NodeWatch(self.rpc, Views(lambda: CONFIG), self.clock)

    def ask(self) -> Deferred[None]:
        """Somebody wants to know."""
        return Deferred.fromCoroutine(self.watch.refresh())

    def value(self, name: str) -> float | None:
        """The sample node's series of a gauge, or the only one."""
        tally = Tally()
        self.watch.describe(tally)
        series = {each.labels: each.value for each in tally.readings().values.get(name, [])}
        return series.get((NODE.name,), series.get(()))

    def test_together(self) -> None:
        """Who asks while a round is under way waits for that one; each node is asked once, and not for long."""
        first, second = self.ask(), self.ask()
        self.rpc.release()
        self.successResultOf(first)
        self.successResultOf(second)
        self.assertEqual(len(self.rpc.of_kind(NodeInfo)), len(CONFIG.nodes))
        self.assertEqual(self.rpc.limits, {ANSWER_LIMIT})
        self.assertEqual((self.value(UP.name), self.value(MEMORY.name)), (1, 2 * 1024 * 1024))

    def test_somebody_leaves(self) -> None:
        """Who waits no longer takes the round away from nobody."""
        first, second = self.ask(), self.ask()
        first.cancel()
        self.failureResultOf(first, CancelledError)
        self.assertNoResult(second)
        self.rpc.release()
        self.successResultOf(second)

    def test_kept(self) -> None:
        """For some seconds nobody is asked again; what was seen ages, and stays until the next round is over."""
        asked = self.ask()
        self.rpc.release()
        self.successResultOf(asked)
        self.clock.advance(KEPT - 1)
        self.successResultOf(self.ask())
        self.assertEqual(self.value(AGE.name), KEPT - 1)
        self.clock.advance(1)
        again = self.ask()
        self.assertNoResult(again)
        self.assertEqual(self.value(UP.name), 1)
        self.rpc.release()
        self.successResultOf(again)
        self.assertEqual(self.value(AGE.name), 0)

    def test_clock_set_back(self) -> None:
        """What seems to have been seen in the future is of no age, and is not kept until then."""
        asked = self.ask()
        self.rpc.release()
        self.successResultOf(asked)
        self.clock.rightNow -= 3600
        self.assertEqual(self.value(AGE.name), 0)
        again = self.ask()
        self.assertNoResult(again)
        self.rpc.release()
        self.successResultOf(again)

    def test_nothing_seen(self) -> None:
        """Before the first round nothing is told of any node."""
        self.assertIsNone(self.value(UP.name))
        self.assertIsNone(self.value(AGE.name))
