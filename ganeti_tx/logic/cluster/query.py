"""Telling about the cluster by a job."""

import platform
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.base import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.cluster_facts import cluster_facts
from ganeti_tx.model.opcodes import OpClusterConfigQuery, OpClusterQuery

#: What the configuration can answer; the queue's drain flag and the watcher's pause are asked of luxid.
FIELDS: Mapping[str, Callable[[Cluster, str], object]] = {
    "cluster_name": lambda cluster, master: cluster.cluster_name,
    "master_node": lambda cluster, master: master,
    "modify_ssh_setup": lambda cluster, master: cluster.modify_ssh_setup,
    "ssh_key_bits": lambda cluster, master: cluster.ssh_key_bits,
    "ssh_key_type": lambda cluster, master: cluster.ssh_key_type,
    "volume_group_name": lambda cluster, master: cluster.volume_group_name,
}


class Query(LogicalUnit[OpClusterQuery]):
    """All that LUXI's QueryClusterInfo tells."""

    async def execute(self) -> dict[str, Any]:
        """The settings, with all parameters filled."""
        cluster = await self.config.cluster()
        master = await self.config.node(cluster.master_node)
        architecture = [platform.architecture()[0], platform.machine()]
        facts: dict[str, Any] = msgspec.to_builtins(cluster_facts(cluster, master.name, architecture))
        return facts


class ConfigQuery(LogicalUnit[OpClusterConfigQuery]):
    """Single settings, in the order asked for."""

    async def check(self) -> None:
        """Every field is known."""
        if unknown := [field for field in self.op.output_fields if field not in FIELDS]:
            raise OpPrereqError(f"unknown field {unknown[0]!r}; allowed are {', '.join(FIELDS)}", ECode.INVAL)

    async def execute(self) -> list[object]:
        """The values."""
        cluster = await self.config.cluster()
        master = (await self.config.node(cluster.master_node)).name
        return [FIELDS[field](cluster, master) for field in self.op.output_fields]
