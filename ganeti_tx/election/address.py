"""The cluster's own address: the master takes it when its daemons are up and gives it up when they end."""

from typing import Any

import attrs
from twisted.logger import Logger

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.master_network import master_network
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeDeactivateMasterIp
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError, Target

log = Logger()

#: Seconds for which a daemon that comes up waits for the address, and one that ends for giving it up.
TAKE_LIMIT = 30.0
END_LIMIT = 10.0


def network_of(cluster: Cluster) -> dict[str, Any]:
    """What a node must know to take the address or to give it up: arguments of both node calls."""
    return {"master_params": master_network(cluster), "use_external_mip_script": cluster.use_external_mip_script}


@attrs.frozen
class MasterAddress:
    """Asks this node's own daemon, which has the rights; a failure is a warning, since the cluster works without."""

    rpc: INodeRpc
    own_name: str

    async def take(self, config: ConfigData) -> None:
        """Have the address on this node."""
        await self._ask(config, NodeActivateMasterIp(**network_of(config.cluster)), TAKE_LIMIT)

    async def give_up(self, config: ConfigData) -> None:
        """Have it here no more."""
        await self._ask(config, NodeDeactivateMasterIp(**network_of(config.cluster)), END_LIMIT)

    async def _ask(self, config: ConfigData, call: NodeCall[None], limit: float) -> None:
        own: list[Target] = [node for node in config.nodes.values() if node.name == self.own_name]
        try:
            for node in own:
                await self.rpc.call(node, call, limit)
        except RpcError as error:
            log.warn("the cluster's address {ip}: {error}", ip=config.cluster.master_ip, error=str(error))
