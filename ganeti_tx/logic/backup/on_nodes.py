"""The exports that lie on nodes."""

from collections.abc import Iterable, Sequence

from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.backup import ExportList, ExportRemove
from ganeti_tx.rpc.interfaces import RpcError


async def holders(parts: Parts, name: str, nodes: Iterable[Node]) -> list[Node]:
    """The nodes on which an export of this name lies; those that do not tell are warned of."""
    asked = [node for node in nodes if not node.offline]
    answers = await parts.nodes.call_many(asked, ExportList())
    found = []
    for node in asked:
        outcome = answers[node.name]
        if outcome.error is not None:
            parts.warn(f"Failed to query node {node.name} (continuing): {outcome.error}")
        elif name in (outcome.value or ()):
            found.append(node)
    return found


async def remove_exports(parts: Parts, name: str, nodes: Sequence[Node]) -> list[str]:
    """Remove the exports of this name; a sentence for each node that could not."""
    faults = []
    for node in nodes:
        try:
            await parts.nodes.call(node, ExportRemove(export=name))
        except RpcError as error:
            faults.append(f"could not remove the export of {name} on node {node.name}: {error}")
    return faults
