"""Taking the cluster's address by hand."""

from ganeti_tx.logic.cluster.master_ip import ask_master
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpClusterActivateMasterIp
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp


class LUClusterActivateMasterIp(LogicalUnit[OpClusterActivateMasterIp]):
    """Take the address."""

    async def execute(self) -> None:
        """To have it already is fine."""
        await ask_master(self, NodeActivateMasterIp)
