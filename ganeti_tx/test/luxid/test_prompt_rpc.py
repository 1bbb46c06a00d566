"""Queries wait for a node about as long as for the others, and not without end for all."""

from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxid.prompt_rpc import LAST_LOOK, LEAST, LEAST_OF_LAST, NEARLY_ALL, TIMES, PromptRpc
from ganeti_tx.luxid.shared_rpc import SharedRpc
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.interfaces import PROMPT, NodeOfflineError, NodeUnreachableError
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model.samples import NODE

CALL = AllInstancesInfo(hypervisors=["fake"])
NODES = [replace(NODE, name=f"node{number}.example.com", uuid=f"uuid{number}") for number in range(1, 5)]


class PromptTests(SynchronousTestCase):
    """Four nodes that answer when the test says so."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.rpc = FakeNodeRpc()
        self.waiting: dict[str, Deferred[Any]] = {}
        self.rpc.answers[AllInstancesInfo] = self.asked
        self.prompt = PromptRpc(SharedRpc(self.rpc), self.clock)

    def asked(self, node: str, call: object) -> "Deferred[Any]":
        """A node is asked."""
        self.waiting[node] = Deferred()
        return self.waiting[node]

    def ask(self, nodes: Any = NODES) -> "Deferred[Any]":
        """A query asks."""
        return Deferred.fromCoroutine(self.prompt.call_many(nodes, CALL))

    def answer(self, *numbers: int) -> None:
        """Some nodes answer."""
        for number in numbers:
            self.waiting.pop(f"node{number}.example.com").callback({})

    def silent(self, asking: "Deferred[Any]") -> list[str]:
        """Those that have not answered, in the order of nodes."""
        outcomes = self.successResultOf(asking)
        self.assertEqual(list(outcomes), [node.name for node in NODES])
        return [name.split(".")[0] for name, outcome in outcomes.items() if outcome.error is not None]

    def test_all_answer(self) -> None:
        """Nobody waits longer than for the last one, and nothing remains."""
        asking = self.ask()
        self.answer(1, 2, 3)
        self.assertNoResult(asking)
        self.answer(4)
        self.assertEqual((self.silent(asking), self.clock.getDelayedCalls()), ([], []))

    def test_silent(self) -> None:
        """Once as many answered as are left, these have the least time from the beginning."""
        asking = self.ask()
        self.clock.advance(0.1)
        self.answer(1, 3)
        self.clock.advance(LEAST - 0.1)
        self.assertNoResult(asking)
        self.clock.advance(LAST_LOOK)
        self.assertEqual(self.silent(asking), ["node2", "node4"])
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_nearly_all(self) -> None:
        """The last of many have less time, however many came one by one before."""
        nodes = [
            replace(NODE, name=f"node{number}.example.com", uuid=f"uuid{number}") for number in range(NEARLY_ALL + 2)
        ]
        asking = self.ask(nodes)
        self.answer(*range(NEARLY_ALL))
        self.clock.advance(LEAST_OF_LAST)
        self.clock.advance(LAST_LOOK)
        self.assertNoResult(asking)
        self.answer(NEARLY_ALL)
        self.clock.advance(0)
        self.clock.advance(LAST_LOOK)
        outcomes = self.successResultOf(asking)
        self.assertEqual([name for name, outcome in outcomes.items() if outcome.error], [nodes[-1].name])

    def test_all_slow(self) -> None:
        """When the others took long, the rest may take some times as long; what comes then moves the end no more."""
        asking = self.ask()
        self.clock.advance(2.0)
        self.answer(1, 2)
        self.clock.advance(2.0 * (TIMES - 1) - 0.1)
        self.answer(3)
        self.assertNoResult(asking)
        self.clock.advance(0.1)
        self.clock.advance(LAST_LOOK)
        self.assertEqual(self.silent(asking), ["node4"])

    def test_errors_are_no_answers(self) -> None:
        """Nodes that are offline, or refuse, say nothing of how long an answer takes; nobody is hurried by them."""
        self.rpc.answers[AllInstancesInfo] = lambda node, call: (
            self.asked(node, call) if node.startswith("node1") else self.refuse(node)
        )
        asking = self.ask([NODES[0], NODES[1], replace(NODES[2], offline=True), NODES[3]])
        self.clock.advance(PROMPT - 1)
        self.assertNoResult(asking)
        self.answer(1)
        outcomes = self.successResultOf(asking)
        errors = [type(outcome.error) for outcome in outcomes.values()]
        self.assertEqual(errors, [type(None), NodeUnreachableError, NodeOfflineError, NodeUnreachableError])

    def refuse(self, node: str) -> None:
        """It is not there."""
        raise NodeUnreachableError(f"{node} is away")

    def test_nobody(self) -> None:
        """When nobody answers there is an end, too; its error names the node, the call and the time."""
        asking = self.ask()
        self.clock.advance(PROMPT)
        self.clock.advance(LAST_LOOK)
        outcomes = self.successResultOf(asking)
        self.assertRegex(str(outcomes["node2.example.com"].error), "node2.example.com.*10.* s: all_instances_info")

    def test_held_up(self) -> None:
        """Answers that came while this process was held up are looked at before its clock."""
        asking = self.ask()
        self.answer(1, 2)
        self.clock.advance(30.0)
        self.answer(3, 4)
        self.assertEqual(self.silent(asking), [])

    def test_one(self) -> None:
        """A single call has the time that its caller says."""
        asking = Deferred.fromCoroutine(self.prompt.call(NODES[0], CALL, 2.0))
        self.clock.advance(2.0)
        self.assertNoResult(asking)
        self.clock.advance(LAST_LOOK)
        self.failureResultOf(asking, NodeUnreachableError)

    def test_nothing_to_ask(self) -> None:
        """Without nodes there is nothing to wait for."""
        self.assertEqual(self.successResultOf(self.ask([])), {})

    def test_cancelled(self) -> None:
        """Who hangs up leaves nothing behind; the calls go on for others."""
        asking, other = self.ask(), self.ask()
        asking.cancel()
        self.failureResultOf(asking, CancelledError)
        self.answer(1, 2, 3, 4)  # those asked before the second query came
        self.answer(1, 2, 3, 4)
        self.assertEqual((self.silent(other), self.clock.getDelayedCalls()), ([], []))
