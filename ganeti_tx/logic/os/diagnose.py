"""Which OS definitions the nodes have."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.opcodes import OpOsDiagnose
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


FIELDS: Mapping[str, Callable[[OsOnNodes, Cluster], Any]] = {
    "name": lambda os, cluster: os.name,
    "valid": lambda os, cluster: os.valid,
    "trusted": lambda os, cluster: all(report.trusted for report in os.first),
    "variants": lambda os, cluster: os.shared(lambda report: report.variants),
    "parameters": lambda os, cluster: os.shared(lambda report: report.parameters),
    "api_versions": lambda os, cluster: os.shared(lambda report: report.api_versions),
    #: Two fields beyond Ganeti's: None where a definition does not say.
    "hypervisors": lambda os, cluster: os.hypervisors,
    "node_hypervisors": lambda os, cluster: {node: found[0].hypervisors for node, found in os.found.items() if found},
    "node_status": lambda os, cluster: {node: [as_row(each) for each in found] for node, found in os.found.items()},
    "hidden": lambda os, cluster: os.name in cluster.hidden_os,
    "blacklisted": lambda os, cluster: os.name in cluster.blacklisted_os,
    "os_hvp": lambda os, cluster: cluster.os_hvp.get(os.name, {}),
    "osparams": lambda os, cluster: cluster.osparams.get(os.name, {}),
}


def as_row(report: OsReport) -> list[Any]:
    """One node's finding as the commands read it."""
    return [
        report.path,
        report.valid,
        report.diagnose,
        report.variants,
        report.parameters,
        report.api_versions,
        report.trusted,
    ]


class LUOsDiagnose(LogicalUnit[OpOsDiagnose]):
    """Ask all nodes that run instances; definitions that cannot be used are left out unless their state is asked for."""

    async def check(self) -> None:
        """Only fields that there are, and a group that there is."""
        self._group = await self.config.group(self.op.group_name) if self.op.group_name else None
        for name in self.op.output_fields:
            if name not in FIELDS:
                raise OpPrereqError(f"unknown field {name!r} of an OS; there are {', '.join(FIELDS)}", ECode.INVAL)

    async def execute(self) -> list[list[Any]]:
        """A row a definition, by name."""
        cluster = await self.config.cluster()
        asked = set(self.op.output_fields)
        judged = asked & {"valid", "node_status"}
        rows = []
        for found in await self._collect():
            hidden = found.name in cluster.hidden_os and "hidden" not in asked
            blacklisted = found.name in cluster.blacklisted_os and "blacklisted" not in asked
            if hidden or blacklisted or (not found.valid and not judged):
                continue
            if not self.op.names or found.name in self.op.names:
                rows.append([FIELDS[name](found, cluster) for name in self.op.output_fields])
        return rows

    async def _collect(self) -> list[OsOnNodes]:
        nodes = [node for node in await self.config.nodes() if node.vm_capable and not node.offline]
        if self._group is not None:
            nodes = [node for node in nodes if node.group == self._group.uuid]
        answers = await self.nodes.call_many(nodes, OsDiagnose())
        reports: dict[str, list[OsReport]] = {}
        for name, answer in answers.items():
            if answer.error is not None:
                self.warn(str(answer.error))
            else:
                reports[name] = answer.get()
        names = sorted({report.name for found in reports.values() for report in found})
        return [
            OsOnNodes(name, {node: [each for each in found if each.name == name] for node, found in reports.items()})
            for name in names
        ]
