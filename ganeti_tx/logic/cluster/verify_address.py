"""Whether the master carries the cluster's address (reference: verify.json, network)."""

from ganeti_tx.logic.cluster.verify_copies import Finding
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.node import NodeHasIpAddress
from ganeti_tx.rpc.interfaces import RpcError


async def address_findings(parts: Parts) -> list[Finding]:
    """Ask the master's node daemon; one that does not answer is told of elsewhere."""
    cluster = await parts.config.cluster()
    master = await parts.config.node(cluster.master_node)
    try:
        if await parts.nodes.call(master, NodeHasIpAddress(address=cluster.master_ip)):
            return []
    except RpcError:
        return []
    text = (
        f"the master does not have the cluster's address {cluster.master_ip} (on {cluster.master_netdev}); "
        "'gnt-cluster activate-master-ip' gives it to it, or says why not"
    )
    return [(VerifyCode.ENODENET, master.name, text)]
