"""Learning by which certificates nodes are known, where the configuration is from a time before it knew that."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.logic.node.pool import certificate_digests
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_certificates import server_key, servers
from ganeti_tx.rpc.interfaces import RpcError


async def unknown_nodes(unit: LogicalUnit[Any]) -> Sequence[Node]:
    """The nodes that are known only by the authority's word."""
    known = servers((await unit.config.cluster()).candidate_certs)
    return [node for node in await unit.config.nodes() if node.uuid not in known]


async def learn_certificates(unit: LogicalUnit[Any]) -> None:
    """Ask those that answer; from then on nobody else can answer for them."""
    digests: dict[str, str] = {}
    for node in await unknown_nodes(unit):
        if node.offline:
            continue
        try:
            _own, server = await certificate_digests(unit.nodes, node)
        except RpcError as error:
            unit.warn(f"node {node.name} does not tell its certificate: {error}")
            continue
        if server is not None:
            digests[server_key(node.uuid)] = server
    if digests:
        await unit.config.change_nodes([], digests)
