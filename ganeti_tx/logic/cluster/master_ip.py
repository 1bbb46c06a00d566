"""Taking the cluster's address and giving it up by hand; the hooks around it run on the master itself."""

from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.master_network import master_network
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeDeactivateMasterIp


async def ask_master(parts: Parts, call: type[NodeActivateMasterIp] | type[NodeDeactivateMasterIp]) -> None:
    """Make the call on the master with what the cluster says of its address. @raise RpcError: it failed."""
    cluster = await parts.config.cluster()
    master = await parts.config.node(cluster.master_node)
    external = cluster.use_external_mip_script
    await parts.nodes.call(master, call(master_params=master_network(cluster), use_external_mip_script=external))
