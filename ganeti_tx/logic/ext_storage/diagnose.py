"""Which providers of external storage the nodes have."""

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpExtStorageDiagnose
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


FIELDS: Mapping[str, Callable[[ProviderOnNodes], Any]] = {
    "name": lambda provider: provider.name,
    "node_status": lambda provider: {node: list(map(as_row, found)) for node, found in provider.found.items()},
    "nodegroup_status": lambda provider: {group: provider.valid_on(nodes) for group, nodes in provider.groups.items()},
    "parameters": lambda provider: provider.parameters,
}
#: Fields that tell what is wrong.
JUDGING = {"node_status", "nodegroup_status"}


def as_row(report: ProviderReport) -> list[Any]:
    """One node's finding as the commands read it."""
    return [report.path, report.valid, report.diagnose, report.parameters]


class LUExtStorageDiagnose(LogicalUnit[OpExtStorageDiagnose]):
    """Ask all nodes that run instances; what cannot be used everywhere is left out unless its state is asked for."""

    async def check(self) -> None:
        """Only fields that there are."""
        for name in self.op.output_fields:
            if name not in FIELDS:
                raise OpPrereqError(
                    f"unknown field {name!r} of a storage provider; there are {', '.join(FIELDS)}", ECode.INVAL
                )

    async def execute(self) -> list[list[Any]]:
        """A row a provider, by name."""
        judged = JUDGING & set(self.op.output_fields)
        return [
            [FIELDS[name](provider) for name in self.op.output_fields]
            for provider in await self._collect()
            if (provider.valid or judged) and (not self.op.names or provider.name in self.op.names)
        ]

    async def _collect(self) -> list[ProviderOnNodes]:
        nodes = [node for node in await self.config.nodes() if node.vm_capable and not node.offline]
        reports: dict[str, list[ProviderReport]] = {}
        for name, answer in (await self.nodes.call_many(nodes, ExtstorageDiagnose())).items():
            if answer.error is not None:
                self.warn(str(answer.error))
            else:
                reports[name] = answer.get()
        names = {group.uuid: group.name for group in await self.config.groups()}
        groups: dict[str, list[str]] = {}
        for node in nodes:
            groups.setdefault(names[node.group], []).extend([node.name] if node.name in reports else [])
        return [
            ProviderOnNodes(
                provider, {node: [each for each in found if each.name == provider] for node, found in reports.items()}, groups
            )
            for provider in sorted({report.name for found in reports.values() for report in found})
        ]  # fmt: skip
