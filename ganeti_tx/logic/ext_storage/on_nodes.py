"""What all nodes found of each provider of external storage."""

from collections.abc import Mapping
from typing import Any

import attrs

from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.rpc.calls.ext_storage import ExtstorageDiagnose, ProviderReport


@attrs.frozen
class ProviderOnNodes:
    """One provider: what every node found of it, the one that counts first.

    @ivar groups: the names of the nodes, by the name of their group.
    """

    name: str
    found: Mapping[str, list[ProviderReport]]
    groups: Mapping[str, list[str]]

    def valid_on(self, nodes: list[str]) -> bool:
        """Whether each of these nodes has a good one."""
        return all(self.found[node] and self.found[node][0].valid for node in nodes)

    @property
    def valid(self) -> bool:
        """Whether every node has."""
        return self.valid_on(list(self.found))

    @property
    def parameters(self) -> list[list[str]]:
        """Those that it has on all nodes that have a good one, each with what it means."""
        good = [reports[0] for reports in self.found.values() if reports and reports[0].valid]
        sets = [set(report.parameters) for report in good]
        return [list(each) for each in sorted(set.intersection(*sets))] if sets else []


async def providers_on_nodes(unit: LogicalUnit[Any]) -> list[ProviderOnNodes]:
    """All that nodes which run instances have, by name; who does not answer is warned of."""
    nodes = [node for node in await unit.config.nodes() if node.vm_capable and not node.offline]
    reports: dict[str, list[ProviderReport]] = {}
    for name, answer in (await unit.nodes.call_many(nodes, ExtstorageDiagnose())).items():
        if answer.error is not None:
            unit.warn(str(answer.error))
        else:
            reports[name] = answer.get()
    names = {group.uuid: group.name for group in await unit.config.groups()}
    groups: dict[str, list[str]] = {}
    for node in nodes:
        groups.setdefault(names[node.group], []).extend([node.name] if node.name in reports else [])
    return [
        ProviderOnNodes(
            provider, {node: [each for each in found if each.name == provider] for node, found in reports.items()}, groups
        )
        for provider in sorted({report.name for found in reports.values() for report in found})
    ]  # fmt: skip
