"""Exported instances as a resource of queries; only the nodes know them."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from attrs import frozen

from ganeti_tx.query.collect import ALL_AT_ONCE
from ganeti_tx.query.language.cell import NORMAL, Cell
from ganeti_tx.query.language.field import Field, Gives, Kind, Match, Need, by_name, computed
from ganeti_tx.query.live import reason
from ganeti_tx.query.view import View, chosen
from ganeti_tx.rpc.calls.backup import ExportList
from ganeti_tx.rpc.interfaces import INodeRpc

#: A node's name and one export of it; a node that does not answer has one row that says so.
Row = tuple[str, Cell]

ASKED = frozenset({Need.NODES})

EXPORT_FIELDS = by_name(
    [
        computed("node", "Node", Kind.TEXT, "Node name", itemgetter(0), match=Match.HOSTNAME, needs=ASKED),
        computed("export", "Export", Kind.TEXT, "Export name", itemgetter(1), gives=Gives.CELL, needs=ASKED),
    ]
)


@frozen
class ExportRows:
    """Rows are exports of the nodes, which are asked for them anew by every query."""

    view: Callable[[], View]
    rpc: INodeRpc
    name_field: str = "node"
    fields: Mapping[str, Field] = EXPORT_FIELDS
    at_a_time: int = ALL_AT_ONCE

    async def rows(
        self, names: Sequence[object] | None, wanted: frozenset[str], strict: bool
    ) -> tuple[Sequence[Row], View]:
        """As Resource.rows says; names are nodes'."""
        view = self.view()
        nodes = chosen(view.nodes, view.node_names, names, strict)
        answers = await self.rpc.call_many(list(nodes), ExportList())
        rows: list[Row] = []
        for node in nodes:
            outcome = answers[node.name]
            if outcome.error is not None:
                rows.append((node.name, reason(outcome.error)))
            else:
                rows += [(node.name, (NORMAL, name)) for name in outcome.value or ()]
        return rows, view

    async def collect(self, rows: Sequence[Row], context: View, needs: frozenset[Need]) -> View:
        """The rows have everything already."""
        return context
