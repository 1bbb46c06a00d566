"""Nodes are asked once for all who want to know the same, and nobody gets an answer older than his question."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.luxid.shared_rpc import SharedRpc
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.interfaces import INodeRpc, NodeOfflineError, NodeUnreachableError, Outcome, R, Target
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model.samples import NODE

OTHER = replace(NODE, name="other.example.com", uuid="other-uuid")
KVM, FAKE = AllInstancesInfo(hypervisors=["kvm"]), AllInstancesInfo(hypervisors=["fake"])


@implementer(INodeRpc)
class ByHand:
    """The test answers."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, NodeCall[object], Deferred[Any]]] = []

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        waiting: Deferred[Any] = Deferred()
        self.sent.append((node.name, call, waiting))
        result: R = await waiting
        return result

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says."""
        raise AssertionError("not used")


class SharedTests(SynchronousTestCase):
    """Several who ask."""

    def setUp(self) -> None:
        self.rpc = ByHand()
        self.shared = SharedRpc(self.rpc)

    def ask(self, *nodes: Any, call: NodeCall[object] = KVM) -> "Deferred[Any]":
        """Somebody asks nodes."""
        return Deferred.fromCoroutine(self.shared.call_many(nodes, call))

    def answer(self, number: int, value: object) -> None:
        """A node answers the call of that number."""
        self.rpc.sent[number][2].callback(value)

    def test_shared(self) -> None:
        """Who asks while the node is asked the same gets the next answer, one for all."""
        first, second, third = self.ask(NODE), self.ask(NODE), self.ask(NODE)
        self.assertEqual(len(self.rpc.sent), 1)
        self.answer(0, 1)
        self.assertEqual(self.successResultOf(first)[NODE.name].value, 1)
        self.assertNoResult(second)
        self.answer(1, 2)
        self.assertEqual([self.successResultOf(each)[NODE.name].value for each in (second, third)], [2, 2])
        self.assertEqual(len(self.rpc.sent), 2)

    def test_apart(self) -> None:
        """Other nodes, and other questions, are asked at once."""
        self.ask(NODE)
        both, other = self.ask(OTHER, NODE), self.ask(NODE, call=FAKE)
        self.assertEqual([(node, call) for node, call, _ in self.rpc.sent], [
            (NODE.name, KVM), (OTHER.name, KVM), (NODE.name, FAKE),
        ])  # fmt: skip
        for number in range(3):
            self.answer(number, number)
        self.successResultOf(other)
        self.assertNoResult(both)
        self.answer(3, 3)
        self.assertEqual([outcome.value for outcome in self.successResultOf(both).values()], [1, 3])

    def test_one_stops_waiting(self) -> None:
        """Who hangs up takes nothing from others; when nobody waits any more, nobody is asked."""
        first, second, third = self.ask(NODE), self.ask(NODE), self.ask(NODE)
        first.cancel()
        second.cancel()
        self.answer(0, 1)
        self.answer(1, 2)
        self.assertEqual(self.successResultOf(third)[NODE.name].value, 2)
        self.ask(NODE)
        late = self.ask(NODE)
        late.cancel()
        self.answer(2, 3)
        self.assertEqual(len(self.rpc.sent), 3)
        for gone in (first, second, late):
            self.failureResultOf(gone, CancelledError)

    def test_fault(self) -> None:
        """An error nobody foresaw reaches all who wait for the answer, and then the node is asked anew."""
        first = self.ask(NODE)
        self.rpc.sent[0][2].errback(KeyError("x"))
        self.failureResultOf(first)
        self.assertNoResult(self.ask(NODE))
        self.assertEqual(len(self.rpc.sent), 2)


class OutcomeTests(SynchronousTestCase):
    """What nodes answer is passed on."""

    def test_errors(self) -> None:
        """A node that fails, or is offline, is an outcome of many and an error of one."""
        rpc = FakeNodeRpc()
        rpc.fail(AllInstancesInfo, "cannot be reached", NodeUnreachableError)
        shared = SharedRpc(rpc)
        self.failureResultOf(Deferred.fromCoroutine(shared.call(NODE, KVM)), NodeUnreachableError)
        offline = replace(NODE, offline=True)
        self.failureResultOf(Deferred.fromCoroutine(shared.call(offline, KVM)), NodeOfflineError)
        outcomes = self.successResultOf(Deferred.fromCoroutine(shared.call_many([NODE, OTHER], KVM)))
        self.assertEqual([type(outcome.error) for outcome in outcomes.values()], [NodeUnreachableError] * 2)
