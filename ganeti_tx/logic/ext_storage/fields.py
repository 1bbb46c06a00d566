"""The fields of providers of external storage (Ganeti 3.0 query table, extstorage)."""

from collections.abc import Collection
from typing import Any

from ganeti_tx.logic.ext_storage.on_nodes import ProviderOnNodes
from ganeti_tx.query.language.field import Kind, by_name, computed
from ganeti_tx.rpc.calls.ext_storage import ProviderReport

#: Fields that tell what is wrong.
JUDGING = frozenset({"node_status", "nodegroup_status"})


def as_row(report: ProviderReport) -> list[Any]:
    """One node's finding as the commands read it."""
    return [report.path, report.valid, report.diagnose, report.parameters]


FIELDS = by_name(
    [
        computed("name", "Name", Kind.TEXT, "Name of the provider", lambda provider: provider.name),
        computed(
            "node_status",
            "NodeStatus",
            Kind.OTHER,
            "What each node found",
            lambda provider: {node: list(map(as_row, found)) for node, found in provider.found.items()},
        ),
        computed(
            "nodegroup_status",
            "NodegroupStatus",
            Kind.OTHER,
            "Whether all nodes of each group have a good one",
            lambda provider: {group: provider.valid_on(nodes) for group, nodes in provider.groups.items()},
        ),
        computed(
            "parameters",
            "Parameters",
            Kind.OTHER,
            "Parameters that all nodes know",
            lambda provider: provider.parameters,
        ),
    ]
)


def is_shown(provider: ProviderOnNodes, asked: Collection[str]) -> bool:
    """Whether it is told of: what cannot be used everywhere is, when these fields ask for that."""
    return provider.valid or not JUDGING.isdisjoint(asked)
