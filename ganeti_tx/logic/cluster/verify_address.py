"""Whether the master carries the cluster's address (reference: verify.json, network)."""

from typing import Any

from ganeti_tx.logic.cluster.verify_copies import Finding
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.node import NodeHasIpAddress
from ganeti_tx.rpc.interfaces import RpcError


async def address_findings(unit: LogicalUnit[Any]) -> list[Finding]:
    """Ask the master's node daemon; one that does not answer is told of elsewhere."""
    cluster = await unit.config.cluster()
    master = await unit.config.node(cluster.master_node)
    try:
        if await unit.nodes.call(master, NodeHasIpAddress(address=cluster.master_ip)):
            return []
    except RpcError:
        return []
    text = (
        f"the master does not have the cluster's address {cluster.master_ip} (on {cluster.master_netdev}); "
        "'gnt-cluster activate-master-ip' gives it to it, or says why not"
    )
    return [(VerifyCode.ENODENET, master.name, text)]
