"""Tests of the delay."""

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.logic.debug.delay import MOST_ROUNDS
from ganeti_tx.model.opcodes import OpTestDelay
from ganeti_tx.rpc.calls.node import TestDelay as DelayCall
from ganeti_tx.test.logic.stage import UnitTestCase


class DelayTests(UnitTestCase):
    """OP_TEST_DELAY."""

    def test_waits_on_the_master(self) -> None:
        """The opcode ends when its time is over, not before."""
        result = self.stage.run(OpTestDelay(duration=5.0))
        self.stage.clock.advance(4.9)
        self.assertNoResult(result)
        self.stage.clock.advance(0.2)
        self.assertIsNone(self.successResultOf(result))
        self.assertEqual(self.nodes.sent, [])

    def test_waits_on_nodes(self) -> None:
        """Every node is told to wait, with its lock held shared."""
        self.run_op(OpTestDelay(duration=2.0, on_master=False, on_nodes=("node2", "node1"), no_locks=False))
        self.assertEqual([name for name, _ in self.nodes.sent], ["node2.example.com", "node1.example.com"])
        self.assertEqual({call.duration for call in self.nodes.of_kind(DelayCall)}, {2.0})
        self.assertEqual(self.stage.locked["node/node1-uuid"], "shared")

    def test_without_locks(self) -> None:
        """Without locks the nodes' locks stay free."""
        self.run_op(OpTestDelay(duration=0.0, on_master=False, on_nodes=("node1",), no_locks=True))
        self.assertEqual(self.stage.locked, {"cluster/BGL": "shared"})

    def test_repeats(self) -> None:
        """It waits as often as asked, and tells each round."""
        self.run_op(OpTestDelay(duration=0.0, on_master=False, on_nodes=("node1",), repeat=3))
        self.assertEqual(len(self.nodes.sent), 3)
        self.assertEqual(self.stage.feedback[-1], "- INFO: Test delay iteration 2/2")

    def test_a_node_that_fails(self) -> None:
        """The node's own words are in the error."""
        self.nodes.fail(DelayCall, "no patience")
        text = self.refused(OpTestDelay(duration=1.0, on_master=False, on_nodes=("node1",)), OpExecError)
        self.assertIn("no patience", text)

    def test_refusals(self) -> None:
        """A negative time, an unknown node, very many rounds and an interruptible delay are refused."""
        endless = OpTestDelay(duration=0.0, on_master=False, repeat=MOST_ROUNDS + 1)
        self.assertIn(f"at most {MOST_ROUNDS}", self.refused(endless, OpPrereqError))
        self.assertIn("-1", self.refused(OpTestDelay(duration=-1.0), OpPrereqError))
        self.assertIn("ghost", self.refused(OpTestDelay(duration=1.0, on_nodes=("ghost",)), OpPrereqError))
        self.assertIn("interruptible", self.refused(OpTestDelay(duration=1.0, interruptible=True), OpPrereqError))
