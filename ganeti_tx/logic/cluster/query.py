"""Telling about the cluster by a job."""

import platform
from typing import Any

import msgspec

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster_facts import cluster_facts
from ganeti_tx.model.opcodes import OpClusterQuery


async def facts_now(config: IConfig) -> dict[str, Any]:
    """The settings, with all parameters filled, as plain JSON."""
    cluster = await config.cluster()
    master = await config.node(cluster.master_node)
    architecture = [platform.architecture()[0], platform.machine()]
    facts: dict[str, Any] = msgspec.to_builtins(cluster_facts(cluster, master.name, architecture))
    return facts


class LUClusterQuery(LogicalUnit[OpClusterQuery]):
    """All that LUXI's QueryClusterInfo tells."""

    async def execute(self) -> dict[str, Any]:
        """As `facts_now`."""
        return await facts_now(self.config)
