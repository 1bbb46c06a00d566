"""Giving up the cluster's address by hand."""

from ganeti_tx.logic.cluster.master_ip import ask_master
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpClusterDeactivateMasterIp
from ganeti_tx.rpc.calls.master import NodeDeactivateMasterIp


class LUClusterDeactivateMasterIp(LogicalUnit[OpClusterDeactivateMasterIp]):
    """Give the address up, until somebody takes it or the master daemons start again."""

    async def execute(self) -> None:
        """Not to have it is fine."""
        await ask_master(self, NodeDeactivateMasterIp)
