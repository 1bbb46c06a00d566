"""Sending the configuration round."""

from ganeti_tx.logic.base import LogicalUnit
from ganeti_tx.logic.cluster.certificates import learn_certificates
from ganeti_tx.logic.node.ssh_keys import learn_ssh_keys
from ganeti_tx.model.opcodes import OpClusterPostInit, OpClusterRedistConf


class Redistribute(LogicalUnit[OpClusterRedistConf]):
    """Send configuration, simple configuration and key files to all nodes once more, whatever they are known to have."""

    async def execute(self) -> None:
        """Send, and wait until every node has it or could not be reached."""
        await learn_certificates(self)
        await learn_ssh_keys(self)
        await self.config.redistribute()
        await self.config.when_distributed()


class PostInit(LogicalUnit[OpClusterPostInit]):
    """The job that a new cluster runs first: it shows that jobs run."""

    async def execute(self) -> bool:
        """True."""
        await self.config.cluster()
        return True
