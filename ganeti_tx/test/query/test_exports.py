"""Exports of instances, as the nodes tell of them."""

from typing import Any

from ganeti_tx.errors import ECode
from ganeti_tx.query.language.cell import NO_DATA, OFFLINE
from ganeti_tx.rpc.calls.backup import ExportList
from ganeti_tx.test.query.case import QueryCase


class ExportTests(QueryCase):
    """Two nodes with exports, others without."""

    def setUp(self) -> None:
        super().setUp()
        self.exports: dict[str, list[str]] = {}
        self.rpc.answers[ExportList] = lambda node, call: self.exports.get(node, [])
        self.first, self.second, *_ = sorted(node.name for node in self.config.nodes.values() if not node.offline)

    def test_rows(self) -> None:
        """One row an export; a node without any has none."""
        self.exports = {self.first: ["db1", "web1"], self.second: ["web1"]}
        rows = [(node, export) for (_, node), (_, export) in self.ask("export", ["node", "export"])]
        wanted = [(self.first, "db1"), (self.first, "web1"), (self.second, "web1")]
        self.assertEqual([row for row in rows if row[1] is not None], wanted)

    def test_one_node(self) -> None:
        """Only the node that is named is asked, and an unknown one is refused."""
        self.exports = {self.first: ["web1"]}
        condition = ["=", "node", self.first]
        self.assertEqual(self.column("export", "export", condition), [(0, "web1")])
        self.assertEqual([node for node, _ in self.rpc.sent], [self.first])
        self.refuses(ECode.NOENT, "export", ["node"], ["=", "node", "nowhere"])

    def test_silent_nodes(self) -> None:
        """A node that fails and one that is offline have a row that says so."""
        self.rpc.fail(ExportList, "broken")
        statuses: set[Any] = set(self.column("export", "export"))
        self.assertIn(NO_DATA, statuses)
        self.assertLessEqual(statuses, {NO_DATA, OFFLINE})

    def test_classic(self) -> None:
        """The classic form has null where a node does not answer."""
        self.rpc.fail(ExportList, "broken")
        rows = self.successResultOf(self.queries.classic("export", [self.first], ["node", "export"]))
        self.assertEqual(rows, [[self.first, None]])
