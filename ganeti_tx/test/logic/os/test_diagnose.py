"""OP_OS_DIAGNOSE over nodes that have different definitions."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.model.opcodes import OpOsDiagnose
from ganeti_tx.rpc.calls.os import OsDiagnose, OsReport
from ganeti_tx.test.logic.stage import UnitTestCase

FOUND = OsReport(
    name="debian",
    path="/srv/os/debian",
    valid=True,
    diagnose="",
    variants=["small"],
    parameters=[("dhcp", "a help")],
    api_versions=[20],
    trusted=False,
)


class DiagnoseTests(UnitTestCase):
    """The rows as commands read them."""

    def ask(self, *fields: str) -> Any:
        """The rows of these fields; only the first node has the definition."""
        self.stage.nodes.answers[OsDiagnose] = lambda node, call: [FOUND] if node.startswith("node1") else []
        return self.run_op(OpOsDiagnose(output_fields=fields))

    def test_node_status(self) -> None:
        """What a node found is seven values, the last of which is whether its scripts may run on the node itself."""
        ((status,),) = [row[1:] for row in self.ask("valid", "node_status")]
        found = {node: reports for node, reports in status.items() if reports}
        (((path, valid, message, variants, parameters, versions, trusted),),) = found.values()
        self.assertEqual((path, valid, message, versions), ("/srv/os/debian", True, "", [20]))
        self.assertEqual((list(variants), [list(each) for each in parameters]), (["small"], [["dhcp", "a help"]]))
        self.assertFalse(trusted)

    def test_trusted(self) -> None:
        """A definition is trusted when all nodes that have it say so."""
        self.assertEqual(self.ask("valid", "trusted"), [[False, False]])
        trusted = replace(FOUND, trusted=True)
        self.stage.nodes.answer(OsDiagnose, [trusted])
        self.assertEqual(self.run_op(OpOsDiagnose(output_fields=("valid", "trusted"))), [[True, True]])
