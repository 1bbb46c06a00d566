"""New directories for disks that nodes may not use: taken, as Ganeti takes them, but not without a word."""

from collections.abc import Sequence

from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.verify.pools import directories
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.check_answers import CheckAnswers
from ganeti_tx.rpc.calls.node import NodeVerify


async def warn_of_directories(
    parts: Parts, before: Cluster, after: Cluster, nodes: Sequence[Node], timeout: float
) -> None:
    """Warn of nodes that cannot use one of the directories that change; one that does not answer is left out."""
    now = directories(before)
    checks = {
        check.name: place for check, (word, place) in directories(after).items() if now.get(check) != (word, place)
    }
    if not checks:
        return
    call = NodeVerify(checks=checks, cluster_name=after.cluster_name)
    found: dict[str, list[str]] = {}
    for name, outcome in (await parts.nodes.call_many(nodes, call, timeout)).items():
        told = outcome.value or CheckAnswers()
        for check in checks:
            if (fault := told.get(check) or told.failed(check)) is not None:
                found.setdefault(fault, []).append(name)
    for fault, names in found.items():
        parts.warn(f"no disks can be made there on {', '.join(sorted(names))}: {fault}")
