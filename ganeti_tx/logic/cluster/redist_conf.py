"""Sending the configuration round."""

from ganeti_tx.logic.cluster.certificates import learn_certificates, unknown_nodes
from ganeti_tx.logic.node.ssh_keys import learn_ssh_keys
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpClusterRedistConf
from ganeti_tx.model.ssh_keys import host_key

CERTIFICATES, KEYS = "learn the certificates of nodes", "learn the SSH keys of nodes"
SEND = "send the configuration to all nodes"


class LUClusterRedistConf(LogicalUnit[OpClusterRedistConf]):
    """Send configuration, simple configuration and key files to all nodes once more, whatever they are known to have."""

    async def check(self) -> None:
        """Who is to be asked for what."""
        known = (await self.config.cluster()).candidate_certs
        awake = [node for node in await self.config.nodes() if not node.offline]
        self._without_keys = [node.name for node in awake if host_key(node.uuid) not in known]
        self._without_certificates = [node.name for node in await unknown_nodes(self) if not node.offline]

    def plan(self) -> Plan:
        """What is not known of nodes; then all that they get."""
        steps = [PlannedStep(CERTIFICATES, tuple(self._without_certificates))] if self._without_certificates else []
        if self._without_keys:
            steps.append(PlannedStep(KEYS, tuple(self._without_keys)))
        return [*steps, PlannedStep(SEND, (), ("cluster",))]

    async def execute(self) -> None:
        """Send, and wait until every node has it or could not be reached, which is told."""
        if self._without_certificates:
            async with self.step(CERTIFICATES):
                await learn_certificates(self)
        if self._without_keys:
            async with self.step(KEYS):
                await learn_ssh_keys(self)
        async with self.step(SEND):
            await self.config.redistribute()
        await self.config.when_distributed()
        master = (await self.config.node((await self.config.cluster()).master_node)).name
        for node, why in await self.config.undistributed():
            if node == master:
                self.warn(why)
            else:
                self.warn(f"node {node} does not get it for now, and is tried again: {why}")
