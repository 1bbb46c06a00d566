"""Telling single settings of the cluster."""

from collections.abc import Callable, Mapping

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.opcodes import OpClusterConfigQuery

#: What the configuration can answer; the queue's drain flag and the watcher's pause are asked of luxid.
FIELDS: Mapping[str, Callable[[Cluster, str], object]] = {
    "cluster_name": lambda cluster, master: cluster.cluster_name,
    "master_node": lambda cluster, master: master,
    "modify_ssh_setup": lambda cluster, master: cluster.modify_ssh_setup,
    "ssh_key_bits": lambda cluster, master: cluster.ssh_key_bits,
    "ssh_key_type": lambda cluster, master: cluster.ssh_key_type,
    "volume_group_name": lambda cluster, master: cluster.volume_group_name,
}


class LUClusterConfigQuery(LogicalUnit[OpClusterConfigQuery]):
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
