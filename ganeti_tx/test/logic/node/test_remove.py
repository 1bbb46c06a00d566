"""Tests of taking nodes out."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.cluster.renew_crypto import RENEW_CRYPTO
from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.node.kept_keys import RENEWED_BY, advice
from ganeti_tx.model.node_files import ALIKE
from ganeti_tx.model.opcodes import OpNodeRemove
from ganeti_tx.rpc.calls.node import NodeLeaveCluster
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.logic.stage import UnitTestCase
from ganeti_tx.test.model.samples import NODE


class RemoveTests(UnitTestCase):
    """OP_NODE_REMOVE."""

    def test_removes(self) -> None:
        """The node is told to leave and is forgotten."""
        self.run_op(OpNodeRemove(node_name="node2"))
        self.assertEqual(
            [(name, type(call)) for name, call in self.nodes.sent], [("node2.example.com", NodeLeaveCluster)]
        )
        self.assertEqual(set(self.stage.snapshot.nodes), {"node1-uuid"})
        self.assertRegex(self.stage.feedback[-1], "^Whoever has the disk of node node2.example.com")

    def test_one_that_does_not_answer(self) -> None:
        """It is forgotten all the same, with a warning."""
        self.nodes.fail(NodeLeaveCluster, "no route", NodeUnreachableError)
        self.run_op(OpNodeRemove(node_name="node2"))
        self.assertIn("no route", self.stage.feedback[-2])
        self.assertRegex(self.stage.feedback[-1], r"WARNING: Whoever has the disk of node node2.example.com.*rapi\.pem")
        self.assertEqual(set(self.stage.snapshot.nodes), {"node1-uuid"})

    def test_the_master(self) -> None:
        """The master stays, and is not told to leave."""
        self.assertIn("node1.example.com", self.refused(OpNodeRemove(node_name="node1"), OpPrereqError))
        self.assertEqual(self.nodes.sent, [])


class AdviceTests(SynchronousTestCase):
    """How keys that a node may have kept are made worthless."""

    def test_keys(self) -> None:
        """Each that several nodes have is named with what replaces it; the authority's only where it may have been."""
        told = advice(replace(NODE, master_candidate=False))
        for file in ALIKE:
            self.assertEqual(file.secret, file.pattern in told, file.path)
        self.assertEqual(set(RENEWED_BY), {file for file in ALIKE if file.secret})
        never = advice(replace(NODE, master_candidate=False, master_capable=False))
        self.assertNotIn("ca.key", never)
        self.assertNotIn("--new-cluster-certificate", never)
        self.assertIn("hmac.key", never)

    def test_options(self) -> None:
        """The command has each option."""
        known = {name for option in RENEW_CRYPTO.options for name in option.flags}
        self.assertLessEqual(set(RENEWED_BY.values()), known)
