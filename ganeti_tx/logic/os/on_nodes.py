"""What all nodes found of each OS definition."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.rpc.calls.os import OsDiagnose, OsReport


@attrs.frozen
class OsOnNodes:
    """One OS definition: what every node found of it, the definition that counts first."""

    name: str
    found: Mapping[str, list[OsReport]]

    @property
    def first(self) -> list[OsReport]:
        """What counts on the nodes that have it."""
        return [reports[0] for reports in self.found.values() if reports]

    @property
    def valid(self) -> bool:
        """Whether every node has a good one."""
        return all(reports and reports[0].valid for reports in self.found.values())

    @property
    def hypervisors(self) -> list[str] | None:
        """Those that all good definitions allow; None where none of them limits them."""
        limits = [set(report.hypervisors) for report in self.first if report.valid and report.hypervisors is not None]
        return sorted(set.intersection(*limits)) if limits else None

    def shared(self, values: Callable[[OsReport], Sequence[Any]]) -> list[Any]:
        """What all good definitions have, in order."""
        sets = [{as_key(value) for value in values(report)} for report in self.first if report.valid]
        common = set.intersection(*sets) if sets else set()
        return sorted(list(value) if isinstance(value, tuple) else value for value in common)


def as_key(value: Any) -> Any:
    """Lists cannot be in sets."""
    return tuple(value) if isinstance(value, list) else value


async def oses_on_nodes(unit: LogicalUnit[Any], group: NodeGroup | None = None) -> list[OsOnNodes]:
    """All that nodes which run instances have, or those of one group, by name; who does not answer is warned of."""
    nodes = [node for node in await unit.config.nodes() if node.vm_capable and not node.offline]
    if group is not None:
        nodes = [node for node in nodes if node.group == group.uuid]
    answers = await unit.nodes.call_many(nodes, OsDiagnose())
    reports: dict[str, list[OsReport]] = {}
    for name, answer in answers.items():
        if answer.error is not None:
            unit.warn(str(answer.error))
        else:
            reports[name] = answer.get()
    names = sorted({report.name for found in reports.values() for report in found})
    return [
        OsOnNodes(name, {node: [each for each in found if each.name == name] for node, found in reports.items()})
        for name in names
    ]
