"""OP_EXT_STORAGE_DIAGNOSE over nodes that have different providers."""

from typing import Any

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.opcodes import OpExtStorageDiagnose
from ganeti_tx.rpc.calls.ext_storage import ExtstorageDiagnose, ProviderReport
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.logic.stage import UnitTestCase

ONE, TWO = "node1.example.com", "node2.example.com"
SHELF = ProviderReport("shelf", "/srv/shelf", True, "", [("colour", "a help"), ("weight", "a help")])
OTHER = ProviderReport("shelf", "/usr/shelf", True, "", [("colour", "a help")])
BROKEN = ProviderReport("box", "/srv/box", False, "script grow is missing", [])


class DiagnoseTests(UnitTestCase):
    """The rows as commands read them."""

    def ask(self, *fields: str, names: tuple[str, ...] = (), **found: list[ProviderReport]) -> Any:
        """The rows of these fields, where nodes have these providers."""
        self.nodes.answers[ExtstorageDiagnose] = lambda node, call: found[node.split(".")[0]]
        return self.run_op(OpExtStorageDiagnose(output_fields=fields, names=names))

    def test_fields(self) -> None:
        """What a node found is four values; parameters are those that all have; a group is well if all its nodes are."""
        rows = self.ask("name", "node_status", "nodegroup_status", "parameters", node1=[SHELF, BROKEN], node2=[OTHER])
        box, shelf = rows
        self.assertEqual(box[0], "box")
        self.assertEqual(box[1], {ONE: [["/srv/box", False, "script grow is missing", []]], TWO: []})
        self.assertEqual(box[2:], [{"default": False}, []])
        self.assertEqual(shelf[2:], [{"default": True}, [["colour", "a help"]]])

    def test_left_out(self) -> None:
        """Who does not ask how they are gets those only that can be used everywhere; names choose."""
        found: dict[str, Any] = {"node1": [SHELF, BROKEN], "node2": [OTHER]}
        self.assertEqual(self.ask("name", **found), [["shelf"]])
        self.assertEqual(self.ask("name", "node_status", names=("box",), **found)[0][0], "box")
        self.assertEqual(self.ask("name", names=("other",), **found), [])

    def test_silent(self) -> None:
        """A node that does not answer is warned of, and does not count."""
        self.nodes.answers[ExtstorageDiagnose] = lambda node, call: [SHELF]
        answer = self.nodes.answers[ExtstorageDiagnose]

        def some(node: str, call: Any) -> Any:
            if node == TWO:
                raise NodeUnreachableError(f"node {node}: out of order")
            return answer(node, call)

        self.nodes.answers[ExtstorageDiagnose] = some
        rows = self.run_op(OpExtStorageDiagnose(output_fields=("name", "nodegroup_status")))
        self.assertEqual(rows, [["shelf", {"default": True}]])
        self.assertTrue(any("out of order" in line for line in self.stage.feedback))

    def test_unknown_field(self) -> None:
        """It is refused with those that there are."""
        text = self.refused(OpExtStorageDiagnose(output_fields=("valid",)), OpPrereqError)
        self.assertIn("unknown field 'valid' of a storage provider; there are name, node_status", text)
