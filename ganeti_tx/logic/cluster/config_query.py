"""Telling single settings of the cluster."""

from collections.abc import Callable, Mapping

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.master_state import MasterState
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.opcodes import OpClusterConfigQuery

FIELDS: Mapping[str, Callable[[Cluster, str, MasterState], object]] = {
    "cluster_name": lambda cluster, master, state: cluster.cluster_name,
    "drain_flag": lambda cluster, master, state: state.is_drained(),
    "master_node": lambda cluster, master, state: master,
    "modify_ssh_setup": lambda cluster, master, state: cluster.modify_ssh_setup,
    "ssh_key_bits": lambda cluster, master, state: cluster.ssh_key_bits,
    "ssh_key_type": lambda cluster, master, state: cluster.ssh_key_type,
    "volume_group_name": lambda cluster, master, state: cluster.volume_group_name,
    "watcher_pause": lambda cluster, master, state: state.watcher_pause(),
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
        return [FIELDS[field](cluster, master, self.context.master_state) for field in self.op.output_fields]
