"""Whether the nodes allow the directories in which the cluster keeps disks (reference: verify.json)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.cluster.verify_copies import Finding
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.node import NodeVerify

#: By template: the check's name, and the code of a directory that cannot be used.
CHECKS = {
    DiskTemplate.FILE: ("file-storage-path", VerifyCode.ENODEFILESTORAGEPATHUNUSABLE),
    DiskTemplate.SHAREDFILE: ("shared-file-storage-path", VerifyCode.ENODESHAREDFILESTORAGEPATHUNUSABLE),
}
ALLOWED = "allowed-file-storage-paths"


async def storage_findings(unit: LogicalUnit[Any]) -> list[Finding]:
    """Ask every node that may hold instances; one that does not answer is told of elsewhere."""
    cluster = await unit.config.cluster()
    checks: dict[str, Any] = {CHECKS[template][0]: path for template, path in directories(cluster).items()}
    if not checks:
        return []
    nodes = [node for node in await unit.config.nodes() if node.vm_capable and not node.offline]
    call = NodeVerify(checks={**checks, ALLOWED: None}, cluster_name=cluster.cluster_name)
    told = await unit.nodes.call_many(nodes, call)
    return [
        finding
        for name, outcome in told.items()
        if outcome.error is None
        for finding in findings(name, outcome.get(), cluster)
    ]


def directories(cluster: Cluster) -> dict[DiskTemplate, str]:
    """Where the enabled templates keep their disks."""
    places = {DiskTemplate.FILE: cluster.file_storage_dir, DiskTemplate.SHAREDFILE: cluster.shared_file_storage_dir}
    return {each: place for each, place in places.items() if each in cluster.enabled_disk_templates and place}


def findings(node: str, answer: Mapping[str, Any], cluster: Cluster) -> Iterator[Finding]:
    """What is wrong on one node."""
    for fault in answer.get(ALLOWED) or ():
        yield VerifyCode.ENODEFILESTORAGEPATHS, node, str(fault)
    for template in directories(cluster):
        check, code = CHECKS[template]
        if fault := answer.get(check):
            yield code, node, str(fault)
