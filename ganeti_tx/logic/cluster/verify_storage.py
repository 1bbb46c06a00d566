"""Whether the nodes allow the directories in which the cluster keeps disks (reference: verify.json)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.cluster.verify_copies import Finding
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_template import DirectoryCheck
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.pools import pool_of
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.node import NodeVerify

ALLOWED = "allowed-file-storage-paths"


async def storage_findings(parts: Parts) -> list[Finding]:
    """Ask every node that may hold instances; one that does not answer is told of elsewhere."""
    cluster = await parts.config.cluster()
    checks: dict[str, Any] = {check.name: path for check, path in directories(cluster).items()}
    if not checks:
        return []
    nodes = [node for node in await parts.config.nodes() if node.vm_capable and not node.offline]
    call = NodeVerify(checks={**checks, ALLOWED: None}, cluster_name=cluster.cluster_name)
    told = await parts.nodes.call_many(nodes, call)
    return [
        finding
        for name, outcome in told.items()
        if outcome.error is None
        for finding in findings(name, outcome.get(), cluster)
    ]


def directories(cluster: Cluster) -> dict[DirectoryCheck, str]:
    """Where the enabled templates keep their disks, by how that is checked."""
    enabled = map(TEMPLATES.__getitem__, cluster.enabled_disk_templates)
    places = {template.check: pool_of(template, cluster) for template in enabled if template.check is not None}
    return {check: place for check, place in places.items() if place}


def findings(node: str, answer: Mapping[str, Any], cluster: Cluster) -> Iterator[Finding]:
    """What is wrong on one node."""
    for fault in answer.get(ALLOWED) or ():
        yield VerifyCode.ENODEFILESTORAGEPATHS, node, str(fault)
    for check in directories(cluster):
        if fault := answer.get(check.name):
            yield check.code, node, str(fault)
