"""The fields of operating systems (Ganeti 3.0 query table, os)."""

from collections.abc import Collection
from typing import Any

from ganeti_tx.logic.os.on_nodes import OsOnNodes
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.query.language.field import Field, Kind, by_name, computed
from ganeti_tx.rpc.calls.os import OsReport

#: Fields that tell what is wrong.
JUDGING = frozenset({"valid", "node_status"})


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


FOUND = (
    computed("name", "Name", Kind.TEXT, "Name of the operating system", lambda os: os.name),
    computed("valid", "Valid", Kind.BOOL, "Whether every node has a good definition", lambda os: os.valid),
    computed(
        "trusted",
        "Trusted",
        Kind.BOOL,
        "Whether its scripts may run on nodes",
        lambda os: all(report.trusted for report in os.first),
    ),
    computed(
        "variants",
        "Variants",
        Kind.OTHER,
        "Variants that all nodes have",
        lambda os: os.shared(lambda report: report.variants),
    ),
    computed(
        "parameters",
        "Parameters",
        Kind.OTHER,
        "Parameters that all nodes know",
        lambda os: os.shared(lambda report: report.parameters),
    ),
    computed(
        "api_versions",
        "ApiVersions",
        Kind.OTHER,
        "Versions of the interface that it speaks on all nodes",
        lambda os: os.shared(lambda report: report.api_versions),
    ),
    computed(
        "node_status",
        "NodeStatus",
        Kind.OTHER,
        "What each node found",
        lambda os: {node: [as_row(each) for each in found] for node, found in os.found.items()},
    ),
    #: Two fields beyond Ganeti's: None where a definition does not say.
    computed("hypervisors", "Hypervisors", Kind.OTHER, "Hypervisors that it is limited to", lambda os: os.hypervisors),
    computed(
        "node_hypervisors",
        "NodeHypervisors",
        Kind.OTHER,
        "Hypervisors that it is limited to on each node",
        lambda os: {node: found[0].hypervisors for node, found in os.found.items() if found},
    ),
)
SET = (
    Field(
        "hidden",
        "Hidden",
        Kind.BOOL,
        "Whether lists leave it out",
        lambda cluster: lambda os: os.name in cluster.hidden_os,
    ),
    Field(
        "blacklisted",
        "Blacklisted",
        Kind.BOOL,
        "Whether it may not be installed",
        lambda cluster: lambda os: os.name in cluster.blacklisted_os,
    ),
    Field(
        "os_hvp",
        "OsHypervisorParams",
        Kind.OTHER,
        "Hypervisor parameters of its instances",
        lambda cluster: lambda os: cluster.os_hvp.get(os.name, {}),
    ),
    Field(
        "osparams",
        "OsParameters",
        Kind.OTHER,
        "Parameters that the cluster sets",
        lambda cluster: lambda os: cluster.osparams.get(os.name, {}),
    ),
)
FIELDS = by_name(FOUND, SET)


def is_shown(found: OsOnNodes, cluster: Cluster, asked: Collection[str]) -> bool:
    """Whether it is told of: what is hidden, blacklisted or cannot be used is, when these fields ask for that."""
    hidden = found.name in cluster.hidden_os and "hidden" not in asked
    blacklisted = found.name in cluster.blacklisted_os and "blacklisted" not in asked
    return not hidden and not blacklisted and (found.valid or not JUDGING.isdisjoint(asked))
