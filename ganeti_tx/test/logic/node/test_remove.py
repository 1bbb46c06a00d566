"""Tests of taking nodes out."""

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.opcodes import OpNodeRemove
from ganeti_tx.rpc.calls.node import NodeLeaveCluster
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.logic.stage import UnitTestCase


class RemoveTests(UnitTestCase):
    """OP_NODE_REMOVE."""

    def test_removes(self) -> None:
        """The node is told to leave and is forgotten."""
        self.run_op(OpNodeRemove(node_name="node2"))
        self.assertEqual(
            [(name, type(call)) for name, call in self.nodes.sent], [("node2.example.com", NodeLeaveCluster)]
        )
        self.assertEqual(set(self.stage.snapshot.nodes), {"node1-uuid"})

    def test_one_that_does_not_answer(self) -> None:
        """It is forgotten all the same, with a warning."""
        self.nodes.fail(NodeLeaveCluster, "no route", NodeUnreachableError)
        self.run_op(OpNodeRemove(node_name="node2"))
        self.assertIn("no route", self.stage.feedback[-1])
        self.assertEqual(set(self.stage.snapshot.nodes), {"node1-uuid"})

    def test_the_master(self) -> None:
        """The master stays, and is not told to leave."""
        self.assertIn("node1.example.com", self.refused(OpNodeRemove(node_name="node1"), OpPrereqError))
        self.assertEqual(self.nodes.sent, [])
