"""Sending the configuration round."""

from ganeti_tx.logic.cluster.certificates import learn_certificates
from ganeti_tx.logic.node.ssh_keys import learn_ssh_keys
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpClusterRedistConf


class LUClusterRedistConf(LogicalUnit[OpClusterRedistConf]):
    """Send configuration, simple configuration and key files to all nodes once more, whatever they are known to have."""

    async def execute(self) -> None:
        """Send, and wait until every node has it or could not be reached, which is told."""
        await learn_certificates(self)
        await learn_ssh_keys(self)
        await self.config.redistribute()
        await self.config.when_distributed()
        for node, why in await self.config.undistributed():
            self.warn(f"node {node} does not get it for now, and is tried again: {why}")
